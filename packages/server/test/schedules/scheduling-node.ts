import { compose } from "../../src/compose.ts"
import { loadConfig } from "../../src/config/config.ts"
import { FakeRunner } from "../support/fakes/fake-runner.ts"

/*
 * A server process without a port and without sandboxes: it starts the runs of schedules and records
 * them as the real one does, but runs their code in this process.
 */

const hamlet = await compose(loadConfig(process.env, []), {
  runner: new FakeRunner(),
  resolver: null,
})
hamlet.nouns.queue.start()
console.log(`started, ${Math.round(Date.now() / 1000)} by its clock`)
// A test that is killed closes the pipe.
for await (const _line of Bun.stdin.stream());
await hamlet.stop()
