import type { Scope } from "@hamlet/contract"
import type { Client } from "@hamlet/contract/client"
import type { z } from "zod"
import type { DocPages } from "../pages/doc-pages.ts"

/** Sizes of what tools return: a model reads all of it, and its context is limited. */
export const toolLimits = {
  pageItemsDefault: 20,
  pageItemsMax: 50,
  /** Characters of code, a page of the documentation, a blob or a response. */
  textCharsMax: 50_000,
  readmeCharsMax: 8_000,
  /** Characters of a return value, the arguments or an error. */
  valueCharsMax: 20_000,
  logLinesDefault: 50,
  logLinesMax: 500,
  logCharsMax: 30_000,
  rowsMax: 200,
  editsMax: 100,
  /** A diff that replaces all code has it twice, with a mark on each line. */
  diffCharsMax: 1_000_000,
  /**
   * Elements in the arguments of one call, limited so that a deep value cannot be expensive to
   * validate.
   */
  inputElementsMax: 10_000,
}

/** What a tool does to data: `destroy` overwrites or deletes, or runs code that might. */
export type Effect = "read" | "write" | "destroy"

/** What a tool works with, for one request of an assistant. */
export interface ToolContext {
  /** Calls the API of this server with the token of the assistant. */
  readonly client: Client
  /** Sends a request to the API of this server with the token of the assistant. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  readonly username: string
  readonly docs: DocPages
}

/** What a tool returns: its data, and a text if that is easier to read than the data as JSON. */
export interface ToolResult<Data> {
  readonly data: Data
  readonly text?: string
}

/** A tool that assistants can call. */
export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The scopes that it needs; a token without them does not see it. */
  readonly scopes: readonly Scope[]
  readonly effect: Effect
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  run(context: ToolContext, input: never): Promise<ToolResult<object>>
}

/** Defines a tool, and ties the types of its function to its schemas. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Omit<McpTool, "input" | "output" | "run"> & {
    readonly input: Input
    readonly output: Output
    run(context: ToolContext, input: z.output<Input>): Promise<ToolResult<z.input<Output>>>
  },
): McpTool {
  return definition
}

/** A failure that the assistant can correct. The message says how. */
export class ToolError extends Error {}
