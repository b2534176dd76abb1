import {
  bare,
  ErrorCtor,
  hardenPattern,
  matchPattern,
  reflectConstruct,
  replacePattern,
  uncurryThis,
} from "../primordials.ts"

interface Explained {
  readonly message: string
  /** Node's code for the same error. */
  readonly code?: string
  /** A path that the val may not read does not exist for it. */
  readonly isMissing?: boolean
}

type Explain = (target: string) => Explained

const { NotCapable, NotFound, PermissionDenied } = Deno.errors

let ownFolder = "/tmp"

/**
 * From here on, errors of Deno's permissions say what a val cannot do and what it can do instead.
 * Deno's own messages advise flags, which a val cannot set. The messages are changed where the
 * errors are created, so that the val's own code sees them too: a class looks up the constructor of
 * its parent whenever it creates an instance.
 */
export function explainPermissionErrors(scratchFolder: string): void {
  ownFolder = scratchFolder
  Object.setPrototypeOf(ExplainedError, ErrorCtor)
  Object.setPrototypeOf(NotCapable, ExplainedError)
  Object.setPrototypeOf(PermissionDenied, ExplainedError)
}

/** Removes the advice to use flags from the text of an error that another thread has created. */
export function withoutFlags(text: string): string {
  return replacePattern(text, advice, "")
}

const advice = hardenPattern(/, run again with the --allow-[\w-]+ flag/g)

const refusals = new WeakSet<object>()
const addRefusal = uncurryThis(WeakSet.prototype.add)
const hasRefusal = uncurryThis(WeakSet.prototype.has)

/** Whether Deno's permissions are the reason for an error, whatever its class. */
export function isRefusal(error: unknown): boolean {
  return typeof error === "object" && error !== null && hasRefusal(refusals, error)
}

function ExplainedError(message?: unknown, options?: unknown): object {
  const explained = typeof message === "string" ? explain(message) : undefined
  if (explained?.isMissing) return noteRefusal(createNotFound(explained.message))
  const error = reflectConstruct(
    ErrorCtor,
    [explained?.message ?? message, options],
    (new.target ?? ErrorCtor) as unknown as ErrorConstructor,
  ) as object
  if (explained?.code !== undefined) defineField(error, "code", explained.code)
  return explained === undefined ? error : noteRefusal(error)
}

function noteRefusal(error: object): object {
  addRefusal(refusals, error)
  return error
}

/** The constructor of NotCapable sets the name of what it gets, which has its own name already. */
export function createNotFound(message: string): object {
  const error = new NotFound(message)
  defineField(error, "code", "ENOENT")
  return defineProperty(
    error,
    "name",
    bare({
      get: () => "NotFound",
      set: () => defineField(error, "name", "NotFound"),
      configurable: true,
    }),
  )
}

const { defineProperty } = Object

function defineField(target: object, name: string, value: string): void {
  defineProperty(
    target,
    name,
    bare({ value, writable: true, enumerable: true, configurable: true }),
  )
}

function explain(message: string): Explained | undefined {
  const found = matchPattern(message, refusal)
  const kind = found?.[1]
  const known = kind === undefined ? undefined : explanations[kind]
  if (known !== undefined) return known(found?.[2] ?? found?.[3] ?? "")
  return matchPattern(message, flags) === null || kind === "import"
    ? undefined
    : explainOther(message)
}

/** The groups are the kind of the permission and what it is for, quoted or not. */
const refusal = hardenPattern(
  /^Requires (\w+) access(?: to (?:"([\s\S]*)"|([\s\S]*)))?, run again with the --allow-/,
)
const flags = hardenPattern(/--allow-/)
const links = hardenPattern(/link/i)
const programs = hardenPattern(/--allow-run/)

function explainOther(message: string): Explained {
  if (matchPattern(message, links) !== null)
    return { message: "Cannot create a link: a val can create only files and folders" }
  if (matchPattern(message, programs) !== null) return explainRun("")
  return { message: "Cannot do this: a val has no permission for it" }
}

/** Why a val cannot start a program. */
export function toProgramMessage(program: string): string {
  return `Cannot start ${program}: a val cannot start programs or send signals; use a package, or a service through fetch`
}

function explainRun(program: string): Explained {
  const target = program === "" ? "or control a program" : `"${program}"`
  return {
    message: toProgramMessage(target),
    code: "EACCES",
  }
}

function explainWrite(path: string): Explained {
  return {
    message: `Cannot write to "${path}": a val can write only to ${ownFolder}; std/blob and std/sqlite keep data`,
    code: "EACCES",
  }
}

/** How each refused permission is explained; refused imports are among the errors of imports. */
const explanations: Readonly<Record<string, Explain>> = bare({
  read: (path: string) => ({
    message: `Cannot read "${path}": no such file or directory; a val has only the files in ${ownFolder}, those of its packages, and its own, which readFile of std/utils reads`,
    isMissing: true,
  }),
  write: explainWrite,
  all: explainWrite,
  net: (address: string) => ({
    message: `Cannot use the network address "${address}": on this server vals have no network; its operator can install bubblewrap`,
    code: "EACCES",
  }),
  run: explainRun,
  ffi: (library: string) => ({
    message: `Cannot load ${library === "" ? "native code" : `the library "${library}"`}: a val cannot load native code; use a package of JavaScript or WebAssembly`,
  }),
  sys: (what: string) => ({
    message: `Cannot use "${what}": a val cannot see or change the machine that it runs on`,
    code: "EACCES",
  }),
})
