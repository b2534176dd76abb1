import type { ApiRequest } from "../requests/request.ts"
import type { Schemas } from "../schemas/schema.ts"

/**
 * What a snippet is made from. The token is read from the environment when the snippet runs: a
 * copied snippet holds no secret.
 */
export interface SnippetInput {
  readonly schemas: Schemas
  readonly request: ApiRequest
  readonly baseUrl: string
  readonly hasToken: boolean
}
