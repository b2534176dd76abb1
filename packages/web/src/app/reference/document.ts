import type { Schema, Schemas } from "./schema.ts"

/** The parts of the OpenAPI document of this server that the page shows. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly securitySchemes: { readonly token: { readonly description: string } }
  }
}

interface DescribedOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  /** The scope that a token needs. */
  readonly description?: string
  /** Empty when no token is needed; one of its ways is empty when a token is optional. */
  readonly security: readonly object[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, ResponseDefinition>>
}

/** A method of a path. */
export interface Operation extends DescribedOperation {
  /** The id as words. */
  readonly title: string
  /** In upper case. */
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

/** The schemas of a body by content type. */
export type Contents = Readonly<Record<string, { readonly schema: Schema }>>

/** The response for one status. */
export interface ResponseDefinition {
  /** Names the codes of an error between backticks. */
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Contents
}

const documentPath = "/openapi.json"

/** Fetches the document. */
export async function loadDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch(documentPath, { signal, credentials: "omit" })
  if (!response.ok) throw new Error(`Cannot load ${documentPath}: status ${response.status}`)
  return (await response.json()) as ApiDocument
}

/** All operations, in the order of the document. */
export function listOperations({ paths }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      title: toTitle(operation.operationId),
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** The operations that contain every word of the query. */
export function filterOperations(
  operations: readonly Operation[],
  query: string,
): readonly Operation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter((operation) => {
    const { method, path, title, tags, summary, description = "" } = operation
    const text = [method, path, title, ...tags, summary, description].join("\n").toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** An operation id as words: `listMyRuns` is "List my runs". */
function toTitle(id: string): string {
  const words = id.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
