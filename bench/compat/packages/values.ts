import type { PackageCase } from "../package-case.ts"

/** Packages that compute with values, and for flow control and state. */
export const values: readonly PackageCase[] = [
  {
    code: `import _ from "npm:lodash@4.18.1"
export default () => [_.chunk([1, 2, 3], 2), _.get({ a: [{ b: 1 }] }, "a[0].b"), _.template("hi <%= x %>")({ x: 1 })]`,
    returns: [[[1, 2], [3]], 1, "hi 1"],
  },
  {
    code: `import { groupBy, debounce } from "npm:lodash-es@4.18.1"
export default () => [groupBy([1.2, 1.8, 2.1], Math.floor), typeof debounce(() => {}, 5)]`,
    returns: [{ 1: [1.2, 1.8], 2: [2.1] }, "function"],
  },
  {
    code: `import { v4, v5, v7, validate, version } from "npm:uuid@14.0.3"
export default () => [validate(v4()), version(v7()), v5("www.example.com", v5.DNS)]`,
    returns: [true, 7, "2ed6657d-e927-568b-95e1-2665a8aea6a2"],
  },
  {
    code: `import { customAlphabet, nanoid } from "npm:nanoid@6.0.2"
export default () => nanoid(10).length + customAlphabet("ab", 5)()`,
    returns: /^10[ab]{5}$/,
  },
  {
    code: `import { produce } from "npm:immer@11.2.10"
export default () => {
  const before = { list: [1], other: {} }
  const after = produce(before, (draft) => void draft.list.push(2))
  return [before.list, after.list, before.other === after.other]
}`,
    returns: [[1], [1, 2], true],
  },
  {
    code: `import { from, lastValueFrom, interval } from "npm:rxjs@7.8.2"
import { map, reduce, take } from "npm:rxjs@7.8.2/operators"
export default async () => [
  await lastValueFrom(from([1, 2, 3]).pipe(map((n) => n * 2), reduce((a, b) => a + b))),
  await lastValueFrom(interval(1).pipe(take(3))),
]`,
    returns: [12, 2],
  },
  {
    code: `import { createStore } from "npm:redux@5.0.1"
export default () => {
  const store = createStore((count = 0, { type }) => (type === "add" ? count + 1 : count))
  store.dispatch({ type: "add" })
  return store.getState()
}`,
    returns: 1,
  },
  {
    code: `import { createActor, createMachine } from "npm:xstate@5.33.3"
const light = createMachine({ initial: "red", states: { red: { on: { next: "green" } }, green: {} } })
export default () => {
  const actor = createActor(light).start()
  actor.send({ type: "next" })
  return actor.getSnapshot().value
}`,
    returns: "green",
  },
  {
    code: `import { Effect, pipe } from "npm:effect@4.1.0"
export default () => Effect.runPromise(pipe(Effect.succeed(20), Effect.map((n) => n + 1)))`,
    returns: 21,
  },
  {
    code: `import pLimit from "npm:p-limit@7.3.3"
export default async () => {
  let running = 0, most = 0
  const limit = pLimit(2)
  await Promise.all([1, 2, 3, 4].map(() => limit(async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 2))
    running--
  })))
  return most
}`,
    returns: 2,
  },
  {
    code: `import PQueue from "npm:p-queue@10.0.0"
export default async () => {
  const order = []
  const queue = new PQueue({ concurrency: 1 })
  queue.add(() => order.push("low"), { priority: 0 })
  queue.add(() => order.push("second"), { priority: 1 })
  queue.add(() => order.push("first"), { priority: 2 })
  await queue.onIdle()
  return order.length
}`,
    returns: 3,
  },
  {
    code: `import Bottleneck from "npm:bottleneck@2.19.5"
export default () => new Bottleneck({ minTime: 1, maxConcurrent: 1 }).schedule(async () => "done")`,
    returns: "done",
  },
  {
    code: `import async from "npm:async@3.2.6"
export default () => async.mapLimit([1, 2, 3], 2, async (n) => n * 2)`,
    returns: [2, 4, 6],
  },
  {
    code: `import { evaluate, derivative } from "npm:mathjs@15.2.0"
export default () => [evaluate("sqrt(3^2 + 4^2)"), derivative("x^2", "x").toString()]`,
    returns: [5, "2 * x"],
  },
  {
    code: `import Big from "npm:big.js@7.0.1"
export default () => new Big("0.1").plus("0.2").toString()`,
    returns: "0.3",
  },
  {
    code: `import Decimal from "npm:decimal.js@10.6.0"
export default () => new Decimal(2).sqrt().toFixed(20)`,
    returns: "1.41421356237309504880",
  },
  {
    code: `import semver from "npm:semver@7.8.6"
export default () => [semver.satisfies("1.2.3", "^1.0.0"), semver.inc("1.2.3", "minor")]`,
    returns: [true, "1.3.0"],
  },
  {
    code: `import { minimatch } from "npm:minimatch@11.0.7"
export default () => [minimatch("src/a/b.ts", "src/**/*.ts"), minimatch("b.js", "*.ts")]`,
    returns: [true, false],
  },
]
