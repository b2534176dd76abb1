import type { Output } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded, NotFound } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { navigate } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import type { PageProps } from "../../page-props.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { useAction } from "../../parts/buttons/use-action.ts"
import { PageHead } from "../../parts/page-head.tsx"
import { session } from "../../session/session.ts"
import { findTemplate, templates } from "../../templates/catalog.ts"
import {
  createFromTemplate,
  loadSource,
  openFromTemplate,
} from "../../templates/create-from-template.ts"
import type { Template } from "../../templates/template.ts"
import { TemplateFace } from "../../templates/template-cards.tsx"
import { Trial } from "../../templates/trial.tsx"

const groups = ["Web", "Data", "Automation"] as const

/** The gallery of templates, or one of them. */
export function Page({ template: key }: PageProps) {
  const template = key === undefined ? undefined : findTemplate(key)
  if (key !== undefined && !template) return <NotFound />
  return template ? <TemplateView key={template.key} template={template} /> : <Gallery />
}

function Gallery() {
  return (
    <>
      <PageHead
        title="Templates"
        lead="Working vals to start from. Each can be tried before you keep it."
      />
      {groups.map((group) => (
        <section key={group} class="section" aria-label={group}>
          <h2>{group}</h2>
          <ul class="template-cards">
            {templates
              .filter((template) => template.group === group)
              .map((template) => (
                <li key={template.key}>
                  <a class="template-card" href={`/templates/${template.key}`}>
                    <TemplateFace template={template} summary={template.summary} />
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  )
}

type Val = Output<"createVal">

/** A template: its code, and the real thing beside it once it is tried. */
function TemplateView({ template }: { template: Template }) {
  const source = useResource(template.key, () => loadSource(template.key))
  const tried = useSignal<Val | undefined>(undefined)
  return (
    <>
      <p class="crumb">
        <a href="/templates">
          <Icon name="back" /> Templates
        </a>
      </p>
      <PageHead
        title={template.title}
        lead={template.summary}
        end={<Actions template={template} tried={tried} />}
      />
      <div class="template-panes">
        <div class="card template-code">
          <Loaded of={source} skeleton={<Bars count={10} />}>
            {({ code }) => <CodeBlock code={code} language="ts" label="Code" />}
          </Loaded>
        </div>
        <div class="card template-trial">
          {tried.value ? (
            <Trial key={tried.value.id} val={tried.value} />
          ) : (
            <p class="template-hint">
              “Try it” creates the val in your account and shows here what it does. Keep it, or
              discard it again.
            </p>
          )}
        </div>
      </div>
    </>
  )
}

function Actions({ template, tried }: { template: Template; tried: Signal<Val | undefined> }) {
  const { isBusy, run } = useAction()
  const val = tried.value
  const tryIt = async () => {
    tried.value = await createFromTemplate(template)
  }
  if (session.value.kind === "signed-out")
    return (
      <a class="button" href="/sign-in">
        Sign in to use it
      </a>
    )
  if (!val)
    return (
      <>
        <Button
          kind="quiet"
          icon="edit"
          disabled={isBusy}
          onClick={() => run(() => openFromTemplate(template))}
        >
          Open in the editor
        </Button>
        <Button icon="play" disabled={isBusy} onClick={() => run(tryIt)}>
          {isBusy ? "Creating…" : "Try it"}
        </Button>
      </>
    )
  const discard = async () => {
    await api.deleteVal({ val_id: val.id })
    tried.value = undefined
    showDone(`Deleted ${val.name}`)
  }
  return (
    <>
      <Button kind="quiet" icon="trash" action={discard}>
        Discard
      </Button>
      <Button icon="check" onClick={() => navigate(new URL(val.url).pathname)}>
        Keep {val.name}
      </Button>
    </>
  )
}
