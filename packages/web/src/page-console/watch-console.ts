import type { PageLevel } from "./page-message.ts"

/** Called with the arguments of a call; `read` gives the stack of the call. */
type Note = (level: PageLevel, values: readonly unknown[]) => void

const levels = {
  assert: "error",
  debug: "debug",
  dir: "log",
  dirxml: "log",
  error: "error",
  group: "log",
  groupCollapsed: "log",
  info: "info",
  log: "log",
  table: "log",
  trace: "log",
  warn: "warn",
} as const satisfies Partial<Record<keyof Console, PageLevel>>

type Method = keyof typeof levels

/** Notes each call of the console. The console of the browser gets it as before. */
export function watchConsole(note: Note): void {
  // What is logged may log something itself when it is read.
  let isNoting = false
  for (const method of Object.keys(levels) as Method[]) {
    console[method] = new Proxy(console[method], {
      apply(target, self, args: unknown[]) {
        Reflect.apply(target, self, args)
        if (isNoting) return
        isNoting = true
        try {
          if (method !== "assert") note(levels[method], args)
          else if (!args[0]) note("error", ["Assertion failed:", ...args.slice(1)])
        } catch {
          // The page has changed something that this needs; it must not notice.
        } finally {
          isNoting = false
        }
      },
    })
  }
}
