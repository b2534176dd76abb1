import { inspectArgs } from "../internals.ts"
import { limits } from "../limits.ts"
import { bare, isArray, matchPattern, stringSlice, stringStartsWith } from "../primordials.ts"
import type { ErrorText } from "../protocol.ts"
import { explainImportError, importLocation } from "./import-errors.ts"
import { withoutFlags } from "./permission-errors.ts"
import { explainMissingShell } from "./program-errors.ts"
import { toUserStack } from "./stack-text.ts"

/** Describes a thrown value. Never throws: the value may be an object full of traps. */
export function toErrorText(thrown: unknown): ErrorText {
  try {
    const error = readError(thrown)
    if (error === undefined) return { name: "Error", message: describe(thrown) }
    const { name, message } = explainImportError(error)
    const stack = toStack(thrown as object, error, limits.causesMax)
    return {
      name,
      message: truncate(message),
      ...(stack === undefined ? {} : { stack: truncate(stack) }),
    }
  } catch {
    return { name: "Error", message: "an error that cannot be read" }
  }
}

interface ReadError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

/**
 * Undefined for what is no error. An error is what has a message or a stack, wherever its class
 * comes from.
 */
function readError(thrown: unknown): ReadError | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined
  const message = read(thrown, "message")
  const stack = read(thrown, "stack")
  if (typeof message !== "string" && typeof stack !== "string") return undefined
  const name = read(thrown, "name")
  return {
    name: typeof name === "string" && name !== "" ? stringSlice(name, 0, nameCharsMax) : "Error",
    message: typeof message === "string" ? explainMissingShell(withoutFlags(message)) : "",
    stack: typeof stack === "string" ? withoutFlags(stack) : undefined,
  }
}

const nameCharsMax = 200

/** The stack, followed by the stacks of its causes. */
function toStack(thrown: object, error: ReadError, causesLeft: number): string | undefined {
  if (error.stack === undefined) return undefined
  let text = toUserStack(retitle(error.stack, error))
  const cause = read(thrown, "cause")
  if (cause !== undefined && causesLeft > 0) text += `\nCaused by: ${toPart(cause, causesLeft - 1)}`
  const parts = read(thrown, "errors")
  if (!isArray(parts)) return text
  for (let index = 0; index < parts.length && index < causesLeft; index += 1)
    text += `\nError ${index + 1}: ${toPart(parts[index], 0)}`
  return text
}

/** The stack with our wording of the error. */
function retitle(stack: string, error: ReadError): string {
  const explained = explainImportError(error)
  if (explained === error || !stringStartsWith(stack, `${error.name}: ${error.message}`))
    return stack
  const frame = matchPattern(error.message, importLocation)?.[0] ?? ""
  return `${explained.name}: ${explained.message}${frame}${stringSlice(stack, error.name.length + 2 + error.message.length)}`
}

function toPart(thrown: unknown, causesLeft: number): string {
  const error = readError(thrown)
  if (error === undefined) return describe(thrown)
  return truncate(toStack(thrown as object, error, causesLeft) ?? `${error.name}: ${error.message}`)
}

/** A property, or undefined if it cannot be read. */
function read(value: object, name: string): unknown {
  try {
    return (value as Record<string, unknown>)[name]
  } catch {
    return undefined
  }
}

const plain = bare({ colors: false })

function describe(thrown: unknown): string {
  try {
    return truncate(typeof thrown === "string" ? thrown : inspectArgs([thrown], plain))
  } catch {
    return "a value that cannot be shown"
  }
}

function truncate(text: string): string {
  return text.length <= limits.errorCharsMax
    ? text
    : `${stringSlice(text, 0, limits.errorCharsMax)}…`
}
