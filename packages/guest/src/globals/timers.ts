import timers from "node:timers"
import { reflectApply } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"

type Callback = (...args: unknown[]) => unknown
type StartTimer = (...args: unknown[]) => unknown

/**
 * An error that a timer's callback throws is reported when the callback has ended, and with it the
 * context that says whose it was. So it is caught inside.
 */
export function guardTimers(): void {
  for (const name of ["setTimeout", "setInterval", "setImmediate"] as const) {
    const start = globalThis[name] as unknown as StartTimer
    const guarded: StartTimer = (...args) => {
      if (typeof args[0] === "function") args[0] = guard(args[0] as Callback)
      return reflectApply(start, undefined, args)
    }
    // Among them is what util.promisify asks for.
    Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(start))
    const descriptor = { value: guarded, writable: true, configurable: true, enumerable: true }
    Object.defineProperty(globalThis, name, descriptor)
    Object.defineProperty(timers, name, descriptor)
  }
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
