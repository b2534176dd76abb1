import type { z } from "zod"

/**
 * The record behind a schema of the wire, with the same fields: a time is a number, and nothing is
 * changeable. A record that has more or less is written as a difference to this, so that each field is
 * described once, in the contract.
 */
export type Stored<Schema> = Schema extends z.ZodISODateTime
  ? number
  : Schema extends z.ZodNullable<infer Inner>
    ? Stored<Inner> | null
    : Schema extends z.ZodArray<infer Element>
      ? readonly Stored<Element>[]
      : Schema extends z.ZodObject<infer Shape>
        ? { readonly [Key in keyof Shape]: Stored<Shape[Key]> }
        : Readonly<z.output<Schema>>
