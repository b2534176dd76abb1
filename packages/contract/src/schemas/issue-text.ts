import type { z } from "zod"

type RawIssue = z.core.$ZodRawIssue
type Issue = z.core.$ZodIssue

/**
 * Describes a validation issue for people. Used for every schema, so that no message of the
 * validator is shown; a schema may have a better message of its own.
 */
export function toIssueText(issue: RawIssue | Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is missing"
        : `must be ${typeTexts[issue.expected] ?? "of another type"}`
    case "too_small":
      return toSizeText("at least", issue.origin, Number(issue.minimum))
    case "too_big":
      return toSizeText("at most", issue.origin, Number(issue.maximum))
    case "invalid_format":
      return formatTexts[issue.format] ?? "must have another format"
    case "invalid_value":
      return toChoiceText(issue.values)
    case "invalid_union":
      return toUnionText(issue.errors)
    case "invalid_key":
      return "must not have this key"
    default:
      return "must have another value"
  }
}

const typeTexts: Readonly<Record<string, string>> = {
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

const formatTexts: Readonly<Record<string, string>> = {
  guid: "must be an id (a UUID)",
  email: "must be an email address",
  base64: "must be base64",
}

const sizeTexts: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
}

function toSizeText(bound: "at least" | "at most", origin: string, size: number): string {
  const words = sizeTexts[origin]
  if (words === undefined) return `must be ${bound} ${size}`
  if (bound === "at least" && size === 1) return "must not be empty"
  return `must have ${bound} ${size} ${words[size === 1 ? 0 : 1]}`
}

function toChoiceText(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`
}

/** The intended alternative of a union is the one whose type matches. */
function toUnionText(alternatives: readonly (readonly Issue[])[]): string {
  const intended = alternatives
    .map(([first]) => first)
    .filter((first) => first !== undefined && first.path.length > 0)
  const [issue] = intended
  if (issue === undefined || intended.length > 1) return "must have another type"
  return `has something wrong at "${issue.path.join(".")}", which ${issue.message}`
}
