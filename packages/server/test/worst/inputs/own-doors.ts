import type { Door } from "../../freeze/door.ts"
import { openSocket, startProcess } from "../../freeze/open-socket.ts"

const counts = { fetches: 20, frames: 100_000 }

/** Vals that doors of this test run, as the first user. */
export const worstVals = {
  fetchesAnswers: `export default async (url, count) => {
  const read = async () => (await (await fetch(url)).arrayBuffer()).byteLength
  return (await Promise.allSettled(Array.from({ length: count }, read))).length
}`,
}

/** What no other table has, since only its manner makes it large. */
export const ownDoors: readonly Door[] = [
  {
    name: "egress fetchesAnswers",
    async drive({ send, outside }) {
      const body = JSON.stringify({ args: [`${outside.url}/`, counts.fetches] })
      await send({ method: "POST", path: "/v1/run/ada.fetchesAnswers", body })
    },
  },
  {
    name: "WebSocket frames of one byte",
    async drive({ host }) {
      await startProcess(host, "ada-sockets")
      const socket = await openSocket(host, "ada-sockets")
      for (let count = 0; count < counts.frames; count++) socket.send("a")
      socket.send("end")
      await socket.closed
    },
  },
]
