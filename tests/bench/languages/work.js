// SPDX-License-Identifier: GPL-2.0-only
// As work.py says. The lock is a word that workers share, as there is no other one.
const {Worker, isMainThread, workerData} = require('worker_threads');
const SIZE = 20000, PIECES = 100;

function burn(x) {
	for (let i = 0; i < SIZE; i++)
		x = (Math.imul(x, 69069) + i) | 0;
	return x;
}

function parse(n) {
	let sum = 0;
	for (let i = 0; i < n; i++)
		sum = (sum + burn(i)) | 0;
	return sum;
}

function compute(n) {
	let sum = 0;
	for (let i = 0; i < n; i++)
		sum = (sum + burn(i)) | 0;
	return sum;
}

function lock(word) {
	let seen = Atomics.compareExchange(word, 0, 0, 1);
	while (seen !== 0) {
		if (seen === 2 || Atomics.compareExchange(word, 0, 1, 2) !== 0)
			Atomics.wait(word, 0, 2);
		seen = Atomics.compareExchange(word, 0, 0, 2);
	}
}

function unlock(word) {
	if (Atomics.exchange(word, 0, 0) === 2)
		Atomics.notify(word, 0, 1);
}

function update(word, x) {
	lock(word);
	word[1] += burn(burn(burn(x)));
	unlock(word);
}

function locked(word, n) {
	for (let i = 0; i < n; i++)
		update(word, burn(i));
}

function unlocked(word, n) {
	let own = 0;
	for (let i = 0; i < n; i++)
		own = (own + burn(burn(burn(burn(i))))) | 0;
	Atomics.add(word, 1, own);
}

function both(name, n) {
	const word = new Int32Array(new SharedArrayBuffer(8));
	const one = () => new Promise(end =>
		new Worker(__filename, {workerData: {name, n, word}}).on('exit', end));
	return Promise.all([one(), one()]);
}

async function main(what, times = 200) {
	const n = times * PIECES;
	if (what === 'serial') {
		parse(n);
		await both('compute', n);
	} else if (what === 'serial-fixed') {
		await both('parse', n / 2);
		await both('compute', n);
	} else if (what === 'lock') {
		await both('locked', n / 2);
	} else if (what === 'lock-fixed') {
		await both('unlocked', n / 2);
	} else {
		await both('compute', 2 * n);
	}
}

if (isMainThread) {
	main(process.argv[2], process.argv[3]);
} else {
	const {name, n, word} = workerData;
	if (name === 'locked')
		locked(word, n);
	else if (name === 'unlocked')
		unlocked(word, n);
	else
		(name === 'parse' ? parse : compute)(n);
}
