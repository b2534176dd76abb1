import { isObject, type Json } from "../schemas/json.ts"

/** A JSON value as one would write it in TypeScript. */
export function toJsLiteral(value: Json, indent = ""): string {
  const inner = `${indent}  `
  if (Array.isArray(value))
    return wrap(
      "[",
      "]",
      value.map((item: Json) => toJsLiteral(item, inner)),
      indent,
    )
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${toJsKey(name)}: ${toJsLiteral(field ?? null, inner)}`,
  )
  return wrap("{", "}", fields, indent)
}

/** A key of an object literal. */
export function toJsKey(name: string): string {
  // Written plainly, `__proto__` would set the prototype instead of a field.
  if (name === "__proto__") return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

const lineCharsMax = 40

function wrap(open: string, close: string, items: readonly string[], indent: string): string {
  if (items.length === 0) return open + close
  const line = items.join(", ")
  const isShort = line.length <= lineCharsMax && !line.includes("\n")
  if (isShort) return open === "{" ? `{ ${line} }` : `[${line}]`
  return `${open}\n${items.map((item) => `${indent}  ${item},\n`).join("")}${indent}${close}`
}
