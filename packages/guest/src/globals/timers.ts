import { reflectApply } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"
import { patchBuiltIns } from "./built-ins.ts"

type Callback = (...args: unknown[]) => unknown
type StartTimer = (...args: unknown[]) => unknown

const { defineProperties, defineProperty, getOwnPropertyDescriptors } = Object
const names = ["setTimeout", "setInterval", "setImmediate"] as const

/**
 * Catches errors of timer callbacks inside the callback: Deno reports them after it has ended, when
 * the context no longer shows the run. Deno loads its timers when they are used first.
 */
export function guardTimers(): void {
  for (const name of names) guardLazily(name)
  patchBuiltIns(["timers"], (find) => {
    const timers = find("timers")
    for (const name of names) replace(timers, name, globalThis[name] as unknown as StartTimer)
  })
}

function guardLazily(name: (typeof names)[number]): void {
  const load = Object.getOwnPropertyDescriptor(globalThis, name)?.get
  if (load === undefined) {
    replace(globalThis, name, guardTimer(globalThis[name]))
    return
  }
  Object.defineProperty(globalThis, name, {
    get: () => {
      const guarded = guardTimer(reflectApply(load, globalThis, []))
      replace(globalThis, name, guarded)
      return guarded
    },
    set: (value: StartTimer) => replace(globalThis, name, value),
    enumerable: true,
    configurable: true,
  })
}

function guardTimer(real: unknown): StartTimer {
  const start = real as StartTimer
  const guarded: StartTimer = (...args) => {
    if (typeof args[0] === "function") args[0] = guard(args[0] as Callback)
    return reflectApply(start, undefined, args)
  }
  // The properties of the function include what util.promisify needs.
  return defineProperties(guarded, getOwnPropertyDescriptors(start))
}

function replace(target: object, name: string, value: StartTimer): void {
  defineProperty(target, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: true,
  })
}

function guard(callback: Callback): Callback {
  return function (this: unknown, ...args) {
    try {
      return reflectApply(callback, this, args)
    } catch (error) {
      failCurrentRun(error)
      return undefined
    }
  }
}
