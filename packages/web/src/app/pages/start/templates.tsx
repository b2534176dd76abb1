import type { Output } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import type { Language } from "../../../ui/code/highlight.ts"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { Tabs } from "../../../ui/tabs.tsx"
import { api } from "../../api.ts"
import type { ValFile } from "../../archive/select-files.ts"
import { Loaded, NotFound } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { navigate } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import type { PageProps } from "../../page-props.ts"
import { typeChoices } from "../../parts/badges.tsx"
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

type Val = Output<"getVal">

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
        <div class="card column template-code">
          <Loaded of={source} skeleton={<Bars count={10} />}>
            {({ files }) => <TemplateFiles files={files} />}
          </Loaded>
        </div>
        <div class="card column template-trial">
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

/** The files of a template. One alone needs no tab. */
function TemplateFiles({ files }: { files: readonly ValFile[] }) {
  const path = useSignal(files[0]?.path ?? "")
  const panelId = useId()
  const file = files.find((one) => one.path === path.value)
  return (
    <>
      {files.length > 1 ? (
        <Tabs
          label="Files"
          tabs={files.map((one) => ({ id: one.path, label: toFileLabel(one) }))}
          current={path.value}
          panelId={panelId}
          onPick={(picked) => {
            path.value = picked
          }}
        />
      ) : null}
      <div id={panelId} class="template-file" {...(files.length > 1 ? { role: "tabpanel" } : {})}>
        <CodeBlock
          code={file?.content ?? ""}
          language={toLanguage(path.value)}
          label={files.length > 1 ? path.value : "Code"}
        />
      </div>
    </>
  )
}

/** Its path, and what starts it. */
function toFileLabel({ path, type }: ValFile): string {
  const trigger = type === "script" ? undefined : typeChoices.find(({ value }) => value === type)
  return trigger ? `${path} · ${trigger.label}` : path
}

function toLanguage(path: string): Language {
  if (path.endsWith(".json")) return "json"
  return /\.[jt]sx?$/.test(path) ? "ts" : "text"
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
