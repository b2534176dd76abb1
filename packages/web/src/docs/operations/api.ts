import type { Schema, Schemas } from "../schemas/schema.ts"

/**
 * The API as the page shows it: the OpenAPI document, read once and put into the order of reading.
 */
export interface Api {
  readonly title: string
  readonly version: string
  readonly summary: string
  /** How one comes by a token. */
  readonly tokenHelp: string
  readonly groups: readonly OperationGroup[]
  readonly schemas: Schemas
}

/** The operations under one tag. */
export interface OperationGroup {
  readonly name: string
  readonly operations: readonly Operation[]
}

/** A method of a path. */
export interface Operation {
  readonly id: string
  /** The id as words. */
  readonly title: string
  /** In capitals. */
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly auth: "required" | "optional" | "none"
  readonly scope?: string
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  readonly answers: readonly AnswerDefinition[]
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string
  readonly place: "path" | "query" | "header"
  readonly isRequired: boolean
  readonly description: string
  readonly schema: Schema
}

/** What may be sent as the body. */
export interface RequestBody {
  readonly isRequired: boolean
  readonly contents: readonly Content[]
}

/** A schema and the content type it comes with. */
export interface Content {
  readonly contentType: string
  readonly schema: Schema
}

/** What the server may answer with one status. */
export interface AnswerDefinition {
  readonly status: string
  readonly description: string
  /** The error codes that come with the status; none for a success. */
  readonly codes: readonly string[]
  readonly headers: readonly string[]
  readonly contents: readonly Content[]
}

/** Every operation, in the order of the groups. */
export function operationsOf(api: Api): readonly Operation[] {
  return api.groups.flatMap((group) => group.operations)
}

/** The operation with that id. */
export function findOperation(api: Api, id: string): Operation | undefined {
  return operationsOf(api).find((operation) => operation.id === id)
}

/** Whether the status is that of an error. */
export function isErrorStatus(status: string): boolean {
  return status >= "400"
}
