/** The part of JSON Schema 2020-12 that the OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  /** The schemas of a tuple. */
  readonly prefixItems?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** The named schemas. */
export type Schemas = Readonly<Record<string, Schema>>

/** A schema with references resolved and `null` removed from its alternatives. */
export interface ResolvedSchema {
  readonly schema: Schema
  /** The name of the last reference. */
  readonly name?: string
  readonly isNullable: boolean
}

/**
 * Resolves references and unwraps `X or null`. A missing or circular reference becomes the schema
 * that accepts anything.
 */
export function resolveSchema(schemas: Schemas, schema: Schema): ResolvedSchema {
  const seen = new Set<string>()
  let current = schema
  let name: string | undefined
  let isNullable = false
  for (;;) {
    if (current.$ref !== undefined) {
      name = current.$ref.slice(current.$ref.lastIndexOf("/") + 1)
      const target = seen.has(name) || !Object.hasOwn(schemas, name) ? {} : (schemas[name] ?? {})
      seen.add(name)
      current = target
      continue
    }
    const alternatives = alternativesOf(current)
    const rest = alternatives.filter((one) => one.type !== "null")
    isNullable ||= rest.length < alternatives.length
    if (rest.length !== 1) break
    current = rest[0] as Schema
  }
  return {
    schema: mergeParts(schemas, withoutNull(current)),
    ...(name === undefined ? {} : { name }),
    isNullable: isNullable || hasNullType(current),
  }
}

/** The alternatives of a union, or none. */
export function alternativesOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? schema.oneOf ?? []
}

function hasNullType(schema: Schema): boolean {
  return Array.isArray(schema.type) && schema.type.includes("null")
}

function withoutNull(schema: Schema): Schema {
  if (!Array.isArray(schema.type)) return schema
  const types = schema.type.filter((type) => type !== "null")
  return { ...schema, type: types.length === 1 ? (types[0] as string) : types }
}

/** An `allOf` of objects reads as one object with the fields of all. */
function mergeParts(schemas: Schemas, schema: Schema): Schema {
  if (!schema.allOf) return schema
  const { allOf, ...own } = schema
  // Nested `allOf` is ignored: a part that contains itself would be merged forever.
  const parts = allOf.map((part) => (part.allOf ? {} : resolveSchema(schemas, part).schema))
  return {
    ...Object.assign({}, ...parts),
    ...own,
    properties: Object.assign({}, ...parts.map((part) => part.properties), own.properties),
    required: [...parts.flatMap((part) => part.required ?? []), ...(own.required ?? [])],
  }
}
