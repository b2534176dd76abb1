import type { ComponentChildren } from "preact"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import { PageHead } from "../../parts/page-head.tsx"

const hello = `export default function (request: Request): Response {
  return new Response("Hello")
}
`
const storage = `import { blob } from "/std/blob"
import { sqlite } from "/std/sqlite"

await blob.setJSON("settings", { colour: "green" })
const { rows } = await sqlite.execute("select * from links where visits > ?", [10])
`
const packages = `import { z } from "npm:zod@4"
import dice from "/v/ada/dice"
`

/** The first hour with Hamlet, in seven steps. */
export function Page() {
  return (
    <article class="guide">
      <PageHead
        title="Your first hour"
        lead="Seven steps from nothing to things that run by themselves."
      />
      <ol>
        <Step title="Create a page">
          <p>
            <a href="/new?type=http">Create a val</a> of type HTTP, or take a{" "}
            <a href="/templates">template</a>. Save it with <kbd>Ctrl S</kbd>: it has a web address
            at once. <kbd>Ctrl Enter</kbd> saves it and shows the page beside the code.
          </p>
          <CodeBlock code={hello} language="ts" label="An HTTP val" />
        </Step>
        <Step title="See what it does">
          <p>
            Each request is a <a href="/runs">run</a>, with its logs, its error, and the request and
            response. <code>console.log</code> is all you need. A run can be sent again.
          </p>
        </Step>
        <Step title="Store something">
          <p>
            Blobs keep texts and files, SQLite keeps tables. Your vals share them, and the page{" "}
            <a href="/data">Data</a> shows them.
          </p>
          <CodeBlock code={storage} language="ts" label="Blobs and SQLite" />
        </Step>
        <Step title="Use packages and other vals">
          <p>
            Import from npm, JSR, or another val by its address. A save locks the versions, so what
            works today works next year.
          </p>
          <CodeBlock code={packages} language="ts" label="Imports" />
        </Step>
        <Step title="Keep a secret">
          <p>
            Store keys under <a href="/account/secrets">Secrets</a>, not in code. A val reads them
            with <code>Deno.env.get("NAME")</code>.
          </p>
        </Step>
        <Step title="Let it run by itself">
          <p>
            A val of type Interval runs on a <a href="/schedules">schedule</a>, a val of type Email
            when a mail arrives. <a href="/webhooks">Webhooks</a> tell other services what happened.
          </p>
        </Step>
        <Step title="Share it">
          <p>
            A public val is found under <a href="/search">Explore</a>; an unlisted one only by those
            who have its address. Others like it, comment on it, import it, or fork it.
          </p>
        </Step>
      </ol>
      <p>
        From a terminal, <a href="/docs/cli">hamlet</a> does the same; programs use the{" "}
        <a href="/docs">API</a>, and the <a href="/docs/vals">documentation</a> has the rest. Press{" "}
        <kbd>?</kbd> for all shortcuts and <kbd>Ctrl K</kbd> for everything else.
      </p>
    </article>
  )
}

function Step(props: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <li class="guide-step">
      <h2>{props.title}</h2>
      {props.children}
    </li>
  )
}
