import { pageLimits } from "./page-message.ts"

const limits = { depth: 4, items: 50, nestedChars: 300 }

/** What is left of a text, and the objects around the current value. */
interface Budget {
  chars: number
  readonly around: Set<object>
}

/** The arguments of `console.log` as a text. Runs no getters, and ends for values of any size. */
export function toLogText(values: readonly unknown[]): string {
  const budget: Budget = { chars: pageLimits.textCharsMax, around: new Set() }
  const [first, ...others] = values
  const parts: string[] = []
  let rest: readonly unknown[] = values
  if (typeof first === "string") {
    const { text, used } = format(first.slice(0, budget.chars), others, budget)
    parts.push(text)
    budget.chars -= text.length
    rest = others.slice(used)
  }
  for (const value of rest) {
    if (budget.chars <= 0) break
    parts.push(typeof value === "string" ? take(value, budget) : toValueText(value, budget, 0))
  }
  const text = parts.join(" ")
  return text.length > pageLimits.textCharsMax
    ? `${text.slice(0, pageLimits.textCharsMax - 1)}…`
    : text
}

/** Replaces `%s` and the like. Styles (`%c`) are left out. */
function format(template: string, values: readonly unknown[], budget: Budget) {
  let used = 0
  const text = template.replace(/%[sdifoOc%]/g, (found) => {
    if (found === "%%") return "%"
    if (used >= values.length) return found
    const value = values[used++]
    if (found === "%c") return ""
    if (found === "%d" || found === "%i") return String(Math.trunc(Number(value)))
    if (found === "%f") return String(Number(value))
    return typeof value === "string" ? take(value, budget) : toValueText(value, budget, 1)
  })
  return { text, used }
}

function take(text: string, budget: Budget): string {
  const taken = text.slice(0, Math.max(0, budget.chars))
  budget.chars -= taken.length
  return taken.length < text.length ? `${taken}…` : taken
}

function toValueText(value: unknown, budget: Budget, depth: number): string {
  if (budget.chars <= 0) return "…"
  if (typeof value === "string")
    return take(JSON.stringify(value.slice(0, limits.nestedChars)), budget)
  if (typeof value === "bigint") return take(`${value}n`, budget)
  if (typeof value === "function") return take(`ƒ ${readName(value)}()`, budget)
  if (typeof value !== "object" || value === null)
    return take(Object.is(value, -0) ? "-0" : String(value), budget)
  if (budget.around.has(value)) return take("[circular]", budget)
  budget.around.add(value)
  try {
    return toObjectText(value, budget, depth)
  } catch {
    // A proxy, or an object that changes what the page reads of it.
    return take("[object]", budget)
  } finally {
    budget.around.delete(value)
  }
}

function toObjectText(value: object, budget: Budget, depth: number): string {
  const special = toSpecialText(value)
  if (special !== undefined) return take(special, budget)
  const name = readClass(value)
  if (depth >= limits.depth) return take(name === "Array" ? "[…]" : `${name} {…}`, budget)
  const item = (one: unknown) => toValueText(one, budget, depth + 1)
  if (value instanceof Map)
    return list(`Map(${value.size}) {`, "}", value.size, budget, function* () {
      for (const [key, one] of Map.prototype.entries.call(value))
        yield `${item(key)} => ${item(one)}`
    })
  if (value instanceof Set)
    return list(`Set(${value.size}) {`, "}", value.size, budget, function* () {
      for (const one of Set.prototype.values.call(value)) yield item(one)
    })
  const property = (key: string | number) => {
    const found = Object.getOwnPropertyDescriptor(value, key)
    return !found ? "" : "value" in found ? item(found.value) : "(…)"
  }
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && "length" in value)) {
    const length = Number((value as ArrayLike<unknown>).length)
    const label = Array.isArray(value) ? "" : `${name}(${length}) `
    return list(`${label}[`, "]", length, budget, function* () {
      for (let index = 0; index < length; index += 1) yield property(index)
    })
  }
  const keys = Object.keys(value)
  return list(name === "Object" ? "{" : `${name} {`, "}", keys.length, budget, function* () {
    for (const key of keys)
      yield `${/^[\w$]{1,40}$/.test(key) ? key : JSON.stringify(key.slice(0, limits.nestedChars))}: ${property(key)}`
  })
}

/** `start a, b, … 3 more end`. Stops when the text is long enough. */
function list(
  start: string,
  end: string,
  length: number,
  budget: Budget,
  read: () => Generator<string>,
): string {
  const parts: string[] = []
  budget.chars -= start.length + end.length
  for (const part of read()) {
    parts.push(part)
    budget.chars -= 2
    if (parts.length >= limits.items || budget.chars <= 0) break
  }
  const left = length - parts.length
  return `${start}${parts.join(", ")}${left > 0 ? `${parts.length > 0 ? ", " : ""}… ${left} more` : ""}${end}`
}

/** Errors, elements and the like, whose properties say little. */
function toSpecialText(value: object): string | undefined {
  if (value instanceof Error) return toErrorText(value)
  if (value instanceof Date) return Number.isNaN(+value) ? "Invalid Date" : value.toISOString()
  if (value instanceof RegExp) return String(value)
  if (value instanceof Element) {
    const id = value.id ? ` id="${value.id}"` : ""
    const classes = value.getAttribute("class")
    return `<${value.localName}${id}${classes ? ` class="${classes}"` : ""}>`
  }
  if (value instanceof Node) return value.nodeName
  if (value instanceof Event) return `${readClass(value)} {type: ${JSON.stringify(value.type)}}`
  if (value instanceof Response) return `Response {status: ${value.status}, url: ${value.url}}`
  return undefined
}

/** The stack, which has the message in some browsers only. */
export function toErrorText(error: Error): string {
  const title = `${error.name}: ${error.message}`
  const stack = typeof error.stack === "string" ? error.stack : ""
  const text = stack.includes(error.message) ? stack : `${title}\n${stack}`.trimEnd()
  const { cause } = error
  return cause instanceof Error && cause !== error
    ? `${text}\nCaused by: ${String(cause.stack ?? cause)}`
    : text
}

function readClass(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (typeof prototype !== "object" || prototype === null) return "Object"
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
  return typeof made === "function" ? readName(made) || "Object" : "Object"
}

function readName(made: object): string {
  const name: unknown = Object.getOwnPropertyDescriptor(made, "name")?.value
  return typeof name === "string" ? name.slice(0, 100) : ""
}
