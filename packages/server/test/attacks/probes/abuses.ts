/** A val that takes more than its share of something. */
export interface Abuse {
  readonly takes: string
  /** The body of the val's function of `request`. */
  readonly code: string
  /** Status of the answer. */
  readonly status: number
  /** How the run ends, as `status name: message`; which limit it was must be in the words. */
  readonly run: RegExp
}

const cpu = { status: 502, run: /^crashed ProcessEnded: .*CPU time/ }
const memory = {
  status: 502,
  run: /^crashed ProcessEnded: .*(limit of \d+ MB of memory|heap reached the limit of \d+ MB)/,
}
const time = { status: 504, run: /^timed_out TimedOut: .*longer than \d+ seconds/ }

/** On a server that gives little CPU time and much of all other time. */
export const cpuAbuses: readonly Abuse[] = [
  { takes: "the CPU by a loop of microtasks", code: "while (true) await null", ...cpu },
  {
    takes: "the CPU by a regular expression",
    code: `return String(/^(a+)+$/.test("a".repeat(60) + "b"))`,
    ...cpu,
  },
  {
    takes: "the CPU in a worker",
    code: `new Worker("data:application/javascript,while(true){}", { type: "module" }); await new Promise(() => {})`,
    ...cpu,
  },
  {
    takes: "the CPU by logging",
    code: `while (true) { console.log("x"); await null }`,
    status: 502,
    run: /^crashed ProcessEnded: .*(CPU time|bytes in a second)/,
  },
  {
    takes: "the CPU while it cancels being cancelled",
    code: `request.signal.addEventListener("abort", () => { while (true) {} }); while (true) {}`,
    ...cpu,
  },
]

/** On a server that gives little memory and disk. */
export const memoryAbuses: readonly Abuse[] = [
  {
    takes: "the heap by objects",
    code: "const all = []; while (true) all.push({ a: all.length, b: [all.length] })",
    ...memory,
  },
  {
    // V8 keeps a longer one in a hash table, which takes much CPU time to fill.
    takes: "the heap by one array",
    code: "const all = new Array(2 ** 22).fill().map((_, index) => ({ index })); return String(all.length)",
    ...memory,
  },
  {
    takes: "the heap at once when it is loaded",
    code: "throw new Error('never called')",
    status: 502,
    run: memory.run,
  },
  {
    takes: "memory by ArrayBuffers",
    code: "const all = []; while (true) all.push(new Uint8Array(1024 ** 2).fill(1))",
    ...memory,
  },
  {
    takes: "memory by WebAssembly",
    code: "const all = []; while (true) { const { buffer } = new WebAssembly.Memory({ initial: 64 }); new Uint8Array(buffer).fill(1); all.push(buffer) }",
    ...memory,
  },
  {
    takes: "memory by SQLite",
    code: `const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(":memory:"); db.exec("create table t (x)"); const add = db.prepare("insert into t values (randomblob(1000000))"); while (true) add.run()`,
    ...memory,
  },
  {
    takes: "memory by workers",
    code: `const all = []; for (let index = 0; index < 200; index++) { const worker = new Worker("data:application/javascript,postMessage(1)", { type: "module" }); all.push(worker); await new Promise((resolve) => { worker.onmessage = resolve }) } return String(all.length)`,
    status: 502,
    run: /^crashed ProcessEnded: .*(limit of \d+ MB of memory|heap reached the limit|limit of \d+ threads)/,
  },
  {
    takes: "memory by a folder that is in memory",
    code: `for (let index = 0; ; index++) Deno.writeFileSync("/tmp/" + index, new Uint8Array(1024 ** 2))`,
    status: 502,
    run: /^(failed \w+: .*(No space left|space)|crashed ProcessEnded: .*(memory|file))/,
  },
  {
    takes: "more of a file than a file may have",
    code: `const file = Deno.openSync("/tmp/large", { create: true, write: true }); while (true) file.writeSync(new Uint8Array(1024 ** 2))`,
    status: 502,
    run: /^(failed \w+: .*(No space left|File too large)|crashed ProcessEnded: .*(limit of \d+ MB to a file|memory))/,
  },
  {
    takes: "more files than it may have open",
    code: `Deno.writeTextFileSync("/tmp/a", "x"); const all = []; while (true) all.push(Deno.openSync("/tmp/a"))`,
    status: 502,
    // Deno itself may be the one that gets none any more, and ends.
    run: /^(failed \w+: .*(Too many open files|os error 24)|crashed ProcessEnded: .*exited with code 1)/,
  },
  {
    takes: "an array that cannot be",
    code: "return String(new Uint8Array(1e13).length)",
    status: 502,
    run: /^failed RangeError: /,
  },
  {
    takes: "disk by localStorage",
    code: `for (let index = 0; ; index++) localStorage.setItem("k" + index, "x".repeat(1_000_000))`,
    status: 502,
    run: /^failed /,
  },
  {
    takes: "memory by sessionStorage",
    code: `for (let index = 0; ; index++) sessionStorage.setItem("k" + index, "x".repeat(1_000_000))`,
    status: 502,
    run: /^failed |^crashed ProcessEnded: .*memory/,
  },
  {
    // The oldest entries make room for new ones.
    takes: "disk or memory by caches",
    code: `const cache = await caches.open("fill"); for (let index = 0; index < 150; index++) await cache.put("http://x.test/" + index, new Response(new Uint8Array(100_000))); if ((await cache.keys()).length > 105) throw new Error("too many"); return "x"`,
    status: 200,
    run: /^succeeded /,
  },
  {
    takes: "disk by a key-value store",
    code: `const kv = await Deno.openKv(); for (let index = 0; ; index++) await kv.set(["k", index], "x".repeat(60_000))`,
    status: 502,
    run: /^failed /,
  },
  {
    takes: "10,000 timers",
    code: `for (let index = 0; index < 10_000; index++) setTimeout(() => {}, 2 ** 30); return "x"`,
    status: 200,
    run: /^succeeded /,
  },
  {
    takes: "more logs than are kept",
    code: `for (let index = 0; index < 5_000; index++) console.log("x".repeat(1_000)); return "x"`,
    status: 200,
    run: /^succeeded /,
  },
]

/** On a server that gives little time to begin an answer. */
export const timeAbuses: readonly Abuse[] = [
  {
    takes: "all the time there is by never answering",
    code: "await new Promise(() => {})",
    ...time,
  },
  {
    takes: "all the time there is by waiting for what it never reads",
    code: `await new Promise((resolve) => setTimeout(resolve, 2 ** 30))`,
    ...time,
  },
]
