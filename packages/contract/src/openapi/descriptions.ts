import { isRecord } from "../is-record.ts"
import { accountDescriptions } from "./descriptions/accounts.ts"
import { commonDescriptions } from "./descriptions/common.ts"
import { fileDescriptions } from "./descriptions/files.ts"
import { mailDescriptions } from "./descriptions/mail.ts"
import { runDescriptions } from "./descriptions/runs.ts"
import { valDescriptions } from "./descriptions/vals.ts"

/**
 * What each property and parameter of the API means. A row is for a name everywhere, or for a name
 * in one place: `Val.version` in that schema, `links.self` inside that property, `createRun.version`
 * in the input or output of that operation. A schema may describe a field itself, which comes first.
 */
export const descriptions: Readonly<Record<string, string>> = {
  ...commonDescriptions,
  ...valDescriptions,
  ...fileDescriptions,
  ...runDescriptions,
  ...accountDescriptions,
  ...mailDescriptions,
}

/** Schemas that extend another one, whose rows are for them too. */
const extended: Readonly<Record<string, string>> = { FoundVal: "Val", SavedFile: "File" }

/**
 * The row that describes a property. `place` leads to it: the schema or the operation, then the
 * properties that contain it.
 */
export function findDescribed(place: readonly string[], name: string): string | undefined {
  const [first = "", ...rest] = place
  const base = extended[first]
  const places = [place, ...(base === undefined ? [] : [[base, ...rest]])]
  const keys = places.flatMap((one) => [
    [...one, name].join("."),
    `${one.at(-1)}.${name}`,
    `${one[0]}.${name}`,
  ])
  return [...keys, name].find((key) => Object.hasOwn(descriptions, key))
}

type Json = Record<string, unknown>

/** Adds the descriptions of all properties inside a JSON schema. */
export function describeProperties(schema: unknown, place: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => describeProperties(inner, place))
  if (!isRecord(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => [
      key,
      key === "properties" && isRecord(inner)
        ? describeEach(inner, place)
        : describeProperties(inner, place),
    ]),
  )
}

function describeEach(properties: Json, place: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const described = describeProperties(property, [...place, name])
      const key = findDescribed(place, name)
      const hasOwn = isRecord(described) && "description" in described
      return [
        name,
        key === undefined || hasOwn || !isRecord(described)
          ? described
          : { description: descriptions[key], ...described },
      ]
    }),
  )
}
