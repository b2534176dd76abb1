import { type RouteDefinition, routes } from "@hamlet/contract"
import { toOpenApi } from "@hamlet/contract/openapi"

/** The part of JSON Schema that our document uses. */
export interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: Schema
}

/** One operation of the document, as requests to it are generated from. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** Whether the body may be the code itself. */
  readonly isCodeBody: boolean
  /** Whether the body is arbitrary bytes. */
  readonly isBytesBody: boolean
  /** Whether it takes the scope admin. */
  readonly isForAdmin: boolean
}

interface DocumentedOperation {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const document = toOpenApi({ baseUrl: "http://hamlet.test", version: "test" }) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
}

/** Every operation of the document. */
export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters,
      body: operation.requestBody?.content["application/json"]?.schema,
      isCodeBody: operation.requestBody?.content["text/plain"] !== undefined,
      isBytesBody: operation.requestBody?.content["application/octet-stream"] !== undefined,
      isForAdmin:
        (routes as Record<string, RouteDefinition>)[operation.operationId]?.scope === "admin",
    })),
)
