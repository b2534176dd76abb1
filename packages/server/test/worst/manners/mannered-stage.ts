import type { SlowRequest, Stage } from "../../freeze/door.ts"
import type { Connections } from "./connections.ts"
import { exchange } from "./exchange.ts"
import type { Manner } from "./manner.ts"
import { Relay } from "./relay.ts"

/**
 * A stage on which everything that a door sends is sent in a manner: requests through `send` and
 * `run`, and the bytes of dialogues through relays.
 */
export interface ManneredStage extends Stage, AsyncDisposable {}

export async function openManneredStage(
  stage: Stage,
  manner: Manner,
  connections: Connections,
): Promise<ManneredStage> {
  const [, port = ""] = stage.host.split(":")
  const relays = await Promise.all(
    [Number(port), stage.smtpPort, stage.metricsPort].map((to) =>
      Relay.open(connections, to, manner),
    ),
  )
  const [web, smtp, metrics] = relays.map((relay) => relay.port)
  const send = async (request: SlowRequest) => {
    const headers = { ...stage.headers, ...request.headers }
    const { status, text } = await exchange(
      connections,
      Number(port),
      { ...request, headers },
      manner,
    )
    if (status === 500) throw new Error(text.slice(0, 300))
    return text
  }
  return {
    ...stage,
    send,
    host: `127.0.0.1:${web}`,
    smtpPort: smtp ?? 0,
    metricsPort: metrics ?? 0,
    run: (name) => send({ method: "POST", path: `/v1/run/ada.${name}`, body: "{}" }),
    async [Symbol.asyncDispose]() {
      await Promise.all(relays.map((relay) => relay[Symbol.asyncDispose]()))
    },
  }
}
