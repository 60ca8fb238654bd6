// SPDX-License-Identifier: GPL-3.0-or-later
// busy.js -- what busy.cpuprofile.gz is of: node --cpu-prof busy.js
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const anon = [1,2,3].map(() => (n => { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; }));
class A { run() { return fib(30) + anon[0](3e6); } }
const a = new A(); let t = 0;
for (let i = 0; i < 25; i++) t += a.run();
JSON.parse(JSON.stringify(Array.from({length: 300000}, (_, i) => ({ i }))));
setTimeout(() => console.log(t), 50);
