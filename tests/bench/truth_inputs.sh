# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What the programs of truth_first.sh and truth_second.sh read, made once.

# make_input NAME COMMAND: which writes the file.
make_input()
{
	[ -e "$1" ] && return
	bash -c "$2" >"$T/input" 2>&1 </dev/null || fail "$1: $(tail -n 3 "$T/input")"
}

# The sets of truth_grain.sh, truth_waits.sh and truth_third.sh make their own programs.
case ${SET-} in grain | waits | third) return 0 ;; esac

for program in ffmpeg zstd povray convert optipng lame bzip2 lbzip2 xz sysbench sqlite3 python3 ruby git pigz x264 \
	fio nginx 7z plzip flac oggenc pbzip2 par2; do
	[ -n "$(PATH=$PATH:/usr/sbin type -P "$program")" ] || fail "no $program; it is of a package of Debian"
done
/usr/bin/python3 -c 'import lxml, numpy' || fail 'no lxml or numpy for Python'

export LIBRARIES=/usr/lib/x86_64-linux-gnu
make_input data 'cat /usr/lib/x86_64-linux-gnu/*.so.* | head -c 96M >data'
make_input text 'shuf -i 1-8000000 --random-source=data >text'
make_input video.y4m 'ffmpeg -f lavfi -i testsrc2=s=640x360:r=30:d=10 -vf noise=alls=20 -pix_fmt yuv420p video.y4m'
make_input video.mkv 'ffmpeg -i video.y4m -vf scale=1920:1080 -c:v libx264 -preset fast video.mkv'
make_input tiny.y4m 'ffmpeg -f lavfi -i testsrc2=s=64x64:r=30:d=700 -pix_fmt yuv420p tiny.y4m'
make_input photo.png 'ffmpeg -i video.y4m -frames:v 1 -vf scale=2400:1350 photo.png'
make_input pictures 'mkdir pictures && ffmpeg -i video.y4m -frames:v 12 pictures/%02d.png'
make_input sounds 'mkdir sounds && for i in 1 2 3 4 5 6 7 8; do
	ffmpeg -f lavfi -i "anoisesrc=d=90:s=$i" sounds/$i.wav; done'
make_input scene.pov "printf '%s\n' 'camera { location <0, 2, -3> look_at <0, 1, 2> }' \
	'light_source { <2, 4, -3> color rgb 1 area_light <1, 0, 0>, <0, 0, 1>, 5, 5 }' \
	'sphere { <0, 1, 2>, 2 texture { pigment { bozo } finish { reflection 0.4 } } }' \
	'plane { y, -1 pigment { checker rgb 1, rgb 0 } }' >scene.pov"
make_input page.xml "/usr/bin/python3 -c \"
print('<r>' + ''.join(f'<e id=\\\"{i}\\\"><n>name {i}</n><v>{i * i}</v></e>' for i in range(20000)) + '</r>')\" >page.xml"
make_input repository "git clone --bare -q '$here/../..' repository"
