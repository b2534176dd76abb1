import { z } from "zod"

/** What a record may have for a value of a view: a time is a number, and nothing is changeable. */
type Source<Value> = Value extends string
  ? Value | number
  : Value extends readonly (infer Element)[]
    ? readonly Source<Element>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Source<Value[Key]> }
      : Value

/** The fields of a view that the record has too. */
type CopiedKeys<Item, View> = {
  [Key in keyof View & keyof Item]-?: Item[Key] extends Source<View[Key]> ? Key : never
}[keyof View & keyof Item]

/** The fields that the record lacks, and others that are not copied. */
type Computed<Item, View> = Omit<View, CopiedKeys<Item, View>> & Partial<View>

type Copy = (value: unknown) => unknown

/**
 * Creates a view from the schema of a response. It has exactly the fields that the schema lists, so
 * that a new column is never public by accident. `compute` makes the fields that the record lacks;
 * the others are copied, and times become text.
 */
export function createView<
  Schema extends z.ZodObject,
  Item extends object,
  Rest extends readonly unknown[],
>(
  schema: Schema,
  compute: (it: Item, ...rest: Rest) => Computed<Item, z.output<Schema>>,
): (it: Item, ...rest: Rest) => z.output<Schema> {
  const fields = listFields(schema)
  return (it, ...rest) => {
    const computed = compute(it, ...rest) as Readonly<Record<string, unknown>>
    const view: Record<string, unknown> = {}
    for (const [key, copy] of fields)
      view[key] = key in computed ? computed[key] : copy(it[key as keyof Item])
    return view as z.output<Schema>
  }
}

function listFields(schema: z.ZodObject): readonly (readonly [key: string, copy: Copy])[] {
  return Object.entries(schema.shape).map(([key, field]) => [key, toCopy(field)])
}

function toCopy(schema: unknown): Copy {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const copy = toCopy(schema.unwrap())
    return (value) => (value === null || value === undefined ? value : copy(value))
  }
  if (schema instanceof z.ZodISODateTime) return (value) => toTimeText(value as number)
  if (schema instanceof z.ZodArray) {
    const copy = toCopy(schema.element)
    return (values) => (values as readonly unknown[]).map(copy)
  }
  if (!(schema instanceof z.ZodObject)) return (value) => value
  const fields = listFields(schema)
  return (value) => {
    const record = value as Readonly<Record<string, unknown>>
    return Object.fromEntries(fields.map(([key, copy]) => [key, copy(record[key])]))
  }
}

/** A time as text. */
export function toTimeText(ms: number): string
export function toTimeText(ms: number | null): string | null
export function toTimeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
