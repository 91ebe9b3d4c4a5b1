# SPDX-License-Identifier: GPL-2.0-only
# As work.py says.
SIZE, PIECES, TIMES = 200, 400, Integer(ARGV[1] || 200)

def burn(x)
  i = 0
  while i < SIZE
    x = (x * 69069 + i) & 0xffffffff
    i += 1
  end
  x
end

def parse(n) = (0...n).sum { |i| burn(i) }
def update(n) = (0...n).sum { |i| burn(i) }
def compute(n) = (0...n).sum { |i| burn(i) }

def processes
  2.times { fork { yield } }
  Process.waitall
end

case ARGV[0]
when "serial"
  parse(TIMES * PIECES)
  processes { compute(TIMES * PIECES) }
when "serial-fixed"
  processes { parse(TIMES * PIECES / 2) }
  processes { compute(TIMES * PIECES) }
when "lock"
  2.times.map { Thread.new { update(TIMES * PIECES) } }.each(&:join)
when "lock-fixed"
  processes { update(TIMES * PIECES) }
else
  processes { compute(2 * TIMES * PIECES) }
end
