import type { Schema, Schemas } from "../schemas/schema.ts"

/** The API as the page shows it, in reading order. */
export interface Api {
  readonly title: string
  readonly version: string
  readonly summary: string
  /** How to get a token. */
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
  /** In upper case. */
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
  readonly responses: readonly ResponseDefinition[]
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string
  readonly location: "path" | "query" | "header"
  readonly isRequired: boolean
  readonly description: string
  readonly schema: Schema
}

/** The bodies that an operation accepts. */
export interface RequestBody {
  readonly isRequired: boolean
  readonly contents: readonly Content[]
}

/** A content type and its schema. */
export interface Content {
  readonly contentType: string
  readonly schema: Schema
}

/** The response for one status. */
export interface ResponseDefinition {
  readonly status: string
  readonly description: string
  /** The error codes of the status; empty for a success. */
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

/** Whether a status is an error. */
export function isErrorStatus(status: string): boolean {
  return status >= "400"
}
