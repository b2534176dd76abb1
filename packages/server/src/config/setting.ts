import { readFileSync } from "node:fs"

/** An invalid setting. The message is one sentence for the operator. */
export class ConfigError extends Error {}

/**
 * One setting: its name in the environment, its documentation, and how its text is read. The flag is
 * the name without `HAMLET_`, in kebab-case. docs/configuration.md and the help are made from it.
 */
export interface Setting<Value> {
  readonly env: string
  /** The default as it is documented; empty for a setting that is off by default. */
  readonly default: string
  readonly meaning: string
  /** Reads the text, which is empty where the setting is not set. */
  parse(text: string, isPublic: boolean): Value
}

/** Settings by the names of their values. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** The values of a table. */
export type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]["parse"]>
}

/** Returns the text of a setting; empty if it is not set. */
export type ReadSetting = (env: string) => string

export function readTable<Table extends SettingTable>(
  table: Table,
  read: ReadSetting,
  isPublic = false,
): ValuesOf<Table> {
  const values = Object.entries(table).map(([name, { env, parse }]) => [
    name,
    parse(read(env), isPublic),
  ])
  return Object.fromEntries(values)
}

/** Throws the error of an invalid setting. */
export function refuse(env: string, value: string, reason: string): never {
  throw new ConfigError(`Cannot use ${env} "${value}": ${reason}`)
}

/** The parts of a setting that are the same for all kinds. */
interface Described {
  readonly env: string
  readonly meaning: string
}

interface IntegerOptions<Default> extends Described {
  /** A text describes a default that is computed elsewhere. */
  readonly default: Default
  readonly min?: number
  readonly max: number
  /** What the number is multiplied with. */
  readonly unit?: number
}

/** A whole number. */
export function integer<Default extends number | string>({
  default: standard,
  min = 1,
  max,
  unit = 1,
  ...described
}: IntegerOptions<Default>): Setting<Default extends number ? number : number | undefined> {
  type Value = Default extends number ? number : number | undefined
  return {
    ...described,
    default: String(standard),
    parse(text) {
      if (text !== "") return (readInteger(described.env, text, min, max) * unit) as Value
      return (typeof standard === "number" ? standard * unit : undefined) as Value
    },
  }
}

function readInteger(env: string, text: string, min: number, max: number): number {
  const number = Number(text)
  return /^\d+$/.test(text) && number >= min && number <= max
    ? number
    : refuse(env, text, `it must be a whole number from ${min} to ${max}`)
}

/** A limit, or `none`, which is undefined. With `ifPublic`, it is the default of public servers. */
export function rate({
  default: standard,
  ifPublic = false,
  unit = 1,
  ...described
}: Described & {
  readonly default: number
  readonly ifPublic?: boolean
  readonly unit?: number
}): Setting<number | undefined> {
  return {
    ...described,
    default: ifPublic ? `${standard} if public, else none` : String(standard),
    parse(text, isPublic) {
      if (text === "none" || (text === "" && ifPublic && !isPublic)) return undefined
      return (text === "" ? standard : readInteger(described.env, text, 1, 1_000_000_000)) * unit
    },
  }
}

/** One of several words; the first is the default. */
export function choice<Choice extends string>({
  choices,
  ...described
}: Described & { readonly choices: readonly [Choice, ...Choice[]] }): Setting<Choice> {
  return {
    ...described,
    default: choices[0],
    parse: (text) =>
      text === ""
        ? choices[0]
        : (choices.find((each) => each === text) ??
          refuse(described.env, text, `it must be one of ${choices.join(", ")}`)),
  }
}

/** One of two words; the first is the default. */
export function toggle({
  choices = ["no", "yes"],
  on = "yes",
  ...described
}: Described & {
  readonly choices?: readonly [string, string]
  /** The word that means true. */
  readonly on?: string
}): Setting<boolean> {
  const word = choice({ ...described, choices })
  return { ...word, parse: (text, isPublic) => word.parse(text, isPublic) === on }
}

interface TextOptions<Value> extends Described {
  readonly default?: string
  /** The form of the text, or a function that returns its value, undefined if it is not valid. */
  readonly accept?: RegExp | ((text: string) => Value | undefined)
  /** Why a text is not valid. */
  readonly reason?: string
  /** Whether messages must not repeat the value. */
  readonly isSecret?: boolean
}

/** A text; undefined if it is not set. */
export function text<Value = string>({
  default: standard = "",
  ...options
}: TextOptions<Value>): Setting<Value | undefined> {
  const { env, meaning } = options
  return {
    env,
    meaning,
    default: standard,
    parse: (value) => (value === "" ? undefined : readText(value, options)),
  }
}

/** Texts separated by commas. */
export function texts<Value = string>({
  default: standard = "",
  itemsMax = Number.POSITIVE_INFINITY,
  ...options
}: TextOptions<Value> & { readonly itemsMax?: number }): Setting<readonly Value[]> {
  const { env, meaning } = options
  return {
    env,
    meaning,
    default: standard,
    parse(value) {
      const items = (value || standard).split(",").map((item) => item.trim())
      const values = items.filter(Boolean).map((item) => readText(item, options))
      return values.length <= itemsMax
        ? values
        : refuse(env, value, `it may have ${itemsMax} addresses`)
    },
  }
}

function readText<Value>(
  value: string,
  { env, accept = /^/, reason = "it is not valid", isSecret = false }: TextOptions<Value>,
): Value {
  const accepted =
    typeof accept === "function" ? accept(value) : accept.test(value) ? (value as Value) : undefined
  return accepted ?? refuse(env, isSecret ? "…" : value, reason)
}

/** For names in which case does not matter. */
export function inLowerCase(form: RegExp): (value: string) => string | undefined {
  return (value) => (form.test(value) ? value.toLowerCase() : undefined)
}

/** Paths are appended to it, so it cannot have a query. A password would appear in every link. */
export const webAddress = {
  accept: (value: string) =>
    /^https?:\/\/[^\s?#@]+$/.test(value) && URL.canParse(value)
      ? value.replace(/\/+$/, "")
      : undefined,
  reason: "it must be an http or https address without a query or a password",
}

/** The content of a PEM file. It is read at once, so that a missing file is found at the start. */
export function pemFile({
  kind,
  ...described
}: Described & { readonly kind: "CERTIFICATE" | "PRIVATE KEY" }): Setting<string | undefined> {
  return {
    ...described,
    default: "",
    parse(path) {
      if (path === "") return undefined
      const content = readFile(described.env, path)
      return new RegExp(`-----BEGIN (?:[A-Z]+ )?${kind}-----`).test(content)
        ? content
        : refuse(described.env, path, `it must be a PEM file with a ${kind.toLowerCase()}`)
    },
  }
}

function readFile(env: string, path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    return refuse(env, path, error instanceof Error ? error.message : String(error))
  }
}
