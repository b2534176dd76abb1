import type { Command } from "commander"
import type { Interruption } from "./interruption.ts"
import { createOutput, type Output } from "./output/output.ts"
import { type Connection, connect } from "./servers/connection.ts"
import type { Streams } from "./streams.ts"
import { hasColour } from "./terminal/colour.ts"

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>

/** The options of every command. */
export interface CommonOptions {
  readonly json: boolean
  readonly isColourAllowed: boolean
  /** The name of a saved server. */
  readonly server: string | undefined
  /** The organisation for which the command acts. */
  readonly owner: string | undefined
}

/** What a command receives besides its own options. */
export interface Context {
  readonly env: Env
  readonly output: Output
  readonly interruption: Interruption
  /** Connects to the selected server. */
  connect(): Promise<Connection>
  /** Builds the parser with all commands loaded, for completion scripts. */
  describeProgram(): Promise<Command>
}

/** Creates the context of a command on the streams of this process. */
export function createContext(
  options: CommonOptions,
  {
    interruption,
    streams,
    describeProgram,
  }: Pick<Context, "interruption" | "describeProgram"> & { readonly streams: Streams },
): Context {
  const { env, stdout, stderr } = process
  const isTerminal = stdout.isTTY === true
  const isErrorTerminal = stderr.isTTY === true
  const isAllowed = options.isColourAllowed
  const output = createOutput({
    mode: options.json ? "json" : isTerminal ? "human" : "plain",
    width: stdout.columns || Number(env.COLUMNS) || 80,
    hasColour: hasColour({ isTerminal, isAllowed, env }),
    hasErrorColour: hasColour({ isTerminal: isErrorTerminal, isAllowed, env }),
    isErrorTerminal,
    writeOut: streams.writeOut,
    writeError: streams.writeError,
  })
  return {
    env,
    output,
    interruption,
    describeProgram,
    connect: async () => connect(env, options.server, {}, options.owner),
  }
}
