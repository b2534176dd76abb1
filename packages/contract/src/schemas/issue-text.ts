import type { z } from "zod"

type RawIssue = z.core.$ZodRawIssue
type Issue = z.core.$ZodIssue

/**
 * Says what is wrong with a value, in words for a person. Every schema is read with it, so that no
 * message is the validator's own; a schema that says it better does so itself.
 */
export function toIssueText(issue: RawIssue | Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is missing"
        : `must be ${typeWords[issue.expected] ?? "of another type"}`
    case "too_small":
      return toSizeWords("at least", issue.origin, Number(issue.minimum))
    case "too_big":
      return toSizeWords("at most", issue.origin, Number(issue.maximum))
    case "invalid_format":
      return formatWords[issue.format] ?? "must be written in another way"
    case "invalid_value":
      return toChoiceWords(issue.values)
    case "invalid_union":
      return toUnionWords(issue.errors)
    case "invalid_key":
      return "must not have a key of this name"
    default:
      return "must be something else"
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
}

const formatWords: Readonly<Record<string, string>> = {
  guid: "must be an id, which is a UUID",
  email: "must be an email address",
  base64: "must be base64",
}

const sizeWords: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
}

function toSizeWords(bound: "at least" | "at most", origin: string, size: number): string {
  const words = sizeWords[origin]
  if (words === undefined) return `must be ${bound} ${size}`
  if (bound === "at least" && size === 1) return "must not be empty"
  return `must have ${bound} ${size} ${words[size === 1 ? 0 : 1]}`
}

function toChoiceWords(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`
}

/**
 * Of the ways in which a value can be written, the one that was meant is the one whose type fits.
 */
function toUnionWords(ways: readonly (readonly Issue[])[]): string {
  const meant = ways
    .map(([first]) => first)
    .filter((first) => first !== undefined && first.path.length > 0)
  const [issue] = meant
  if (issue === undefined || meant.length > 1) return "must be of another type"
  return `has something wrong at "${issue.path.join(".")}", which ${issue.message}`
}
