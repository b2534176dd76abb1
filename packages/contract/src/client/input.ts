import type { z } from "zod"
import type { RouteName, Routes } from "../routes.ts"

/**
 * Fields that name a moment. The server reads them into milliseconds as it reads a number, so their
 * types do not tell.
 */
export type MomentField = "since" | "until" | "expiresAt"

/**
 * What a route is called with: one flat object of path parameters, query parameters and fields of
 * the body, as one would write them.
 */
export type Input<Name extends RouteName> = Flat<
  Part<Routes[Name], "params"> &
    Part<Routes[Name], "query"> &
    Part<Routes[Name], "body"> &
    ContentPart<Routes[Name]>
>

/**
 * What a blob can be stored from. A stream is read once, so that a call with one is never repeated.
 */
export type Content = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>

/**
 * Unless a type is given, a text is plain text, a Blob is of its own type, and other bytes are of
 * none.
 */
type ContentPart<Row> = Row extends { readonly isBytesBody: true }
  ? { content: Content; contentType?: string | undefined }
  : unknown

type Part<Row, Place extends string> =
  Row extends Readonly<Record<Place, infer Schema extends z.ZodType>>
    ? Written<z.input<Schema>, z.output<Schema>>
    : unknown

/**
 * Parameters are text on the wire: what a caller writes is nearer to what the server reads them
 * into.
 */
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

/** Shows as one object, and takes nothing where a route takes nothing. */
type Flat<Fields> = [keyof Fields] extends [never]
  ? Record<string, never>
  : { [Name in keyof Fields]: Fields[Name] }
