import type { z } from "zod"
import type { RouteName, Routes } from "../routes.ts"

/** Fields with a time. The server parses them to milliseconds, so their types do not show it. */
export type MomentField = "since" | "until" | "start" | "end" | "expiresAt"

/** The input of a route: one flat object of path parameters, query parameters and body fields. */
export type Input<Name extends RouteName> = Flat<
  Part<Routes[Name], "params"> &
    Part<Routes[Name], "query"> &
    Part<Routes[Name], "body"> &
    ContentPart<Routes[Name]>
>

/** The content of a blob. A stream can be read once, so a call with one is never retried. */
export type Content = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>

/**
 * Without a content type, a string is plain text, a Blob has its own type, and other bytes have
 * none.
 */
type ContentPart<Row> = Row extends { readonly isBytesBody: true }
  ? { content: Content; contentType?: string | undefined }
  : unknown

type Part<Row, Place extends string> =
  Row extends Readonly<Record<Place, infer Schema extends z.ZodType>>
    ? Written<z.input<Schema>, z.output<Schema>>
    : unknown

/** Parameters are text on the wire; callers write the type that the server parses them to. */
type Written<In, Out> = {
  [Name in keyof In]:
    | Extract<In[Name], null | undefined>
    | (Name extends MomentField
        ? Date | string
        : WrittenValue<Present<In[Name]>, Name extends keyof Out ? Present<Out[Name]> : never>)
}

type WrittenValue<In, Out> = [Out] extends [boolean | number]
  ? Widened<Out>
  : [In] extends [readonly (infer Item)[]]
    ? readonly Item[]
    : [Out] extends [readonly (infer Item)[]]
      ? Item | readonly Item[]
      : In

type Widened<Value> = [Value] extends [boolean] ? boolean : number

type Present<Value> = Exclude<Value, null | undefined>

/** Merges the fields into one object type; empty for a route without input. */
type Flat<Fields> = [keyof Fields] extends [never]
  ? Record<string, never>
  : { [Name in keyof Fields]: Fields[Name] }
