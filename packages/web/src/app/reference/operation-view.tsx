import { signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Section } from "../parts/section.tsx"
import { describeType, expandSchema } from "./describe-schema.ts"
import type { Contents, Operation, Parameter, ResponseDefinition } from "./document.ts"
import { InlineText } from "./inline-text.tsx"
import { MethodBadge, PathText } from "./operation-list.tsx"
import { emptyDraft } from "./request.ts"
import { RequestForm, type Typed } from "./request-form.tsx"
import type { Schemas } from "./schema.ts"
import { SchemaFields, SchemaRow } from "./schema-fields.tsx"

interface OperationProps {
  readonly schemas: Schemas
  readonly operation: Operation
}

const parameterTitles = { path: "Path", query: "Query", header: "Headers" } as const

/** One operation: how to call it, a form, and what goes in and comes out. */
export function OperationView(props: OperationProps & { readonly typed: Typed }) {
  const { schemas, operation, typed } = props
  const draft = useMemo(() => {
    const { operationId: id } = operation
    const known = typed.drafts.get(id) ?? signal(emptyDraft(schemas, operation))
    typed.drafts.set(id, known)
    return known
  }, [])
  const responses = Object.entries(operation.responses)
  return (
    <>
      <p class="small">
        <a href="/docs">API reference</a> / {operation.tags[0]}
      </p>
      <h1 tabIndex={-1}>{operation.title}</h1>
      <p class="page-lead">
        <InlineText>{operation.summary}</InlineText>
      </p>
      <div class="row boxed reference-endpoint">
        <MethodBadge method={operation.method} />
        <PathText path={operation.path} />
        <CopyButton text={operation.path} label="Copy the path" />
      </div>
      <AuthNote operation={operation} />
      <RequestForm schemas={schemas} operation={operation} draft={draft} typed={typed} />
      {(["path", "query", "header"] as const).map((place) => (
        <Parameters key={place} {...props} place={place} />
      ))}
      {operation.requestBody ? (
        <Section title="Body">
          <Body schemas={schemas} contents={operation.requestBody.content} />
        </Section>
      ) : null}
      <Section title="Responses">
        {responses.map(([status, response]) =>
          status < "400" ? (
            <ResponseEntry key={status} schemas={schemas} status={status} response={response} />
          ) : null,
        )}
      </Section>
      <Section title="Errors" end={<a href="/docs/errors">What they mean</a>}>
        <ul>
          {responses.map(([status, { description }]) =>
            status < "400" ? null : (
              <li key={status} class="row ruled reference-error">
                <span class="badge status-error">{status}</span>
                <p>
                  <InlineText>{description}</InlineText>
                </p>
              </li>
            ),
          )}
        </ul>
      </Section>
    </>
  )
}

function AuthNote({ operation: { security, description = "" } }: { operation: Operation }) {
  const needs = ["Needs no token.", "Needs a token.", "Works without a token, too."]
  return (
    <p class="row small reference-auth">
      <Icon name={security.length === 1 ? "lock" : "unlock"} />
      <span>
        <InlineText>{`${needs[security.length] ?? ""} ${description}`}</InlineText>
      </span>
    </p>
  )
}

function Parameters(props: OperationProps & { readonly place: Parameter["in"] }) {
  const { schemas, operation, place } = props
  const parameters = operation.parameters.filter((parameter) => parameter.in === place)
  if (parameters.length === 0) return null
  return (
    <Section title={parameterTitles[place]}>
      <ul>
        {parameters.map(({ name, required: isRequired, schema, description = "" }) => (
          <SchemaRow
            key={name}
            schemas={schemas}
            field={{ name, kind: "field", isRequired, schema }}
            description={description}
          />
        ))}
      </ul>
    </Section>
  )
}

function Body(props: {
  readonly schemas: Schemas
  readonly contents: Contents
  readonly isResponse?: boolean
}) {
  const { schemas, contents, ...kind } = props
  return Object.entries(contents).map(([contentType, { schema }]) => (
    <div key={contentType}>
      <p class="row wrap reference-content">
        <code>{contentType}</code>
        <span>{schema.description ?? describeType(schemas, schema)}</span>
      </p>
      {expandSchema(schemas, schema).length > 0 ? (
        <SchemaFields schemas={schemas} schema={schema} {...kind} />
      ) : null}
    </div>
  ))
}

function ResponseEntry(props: {
  readonly schemas: Schemas
  readonly status: string
  readonly response: ResponseDefinition
}) {
  const { schemas, status, response } = props
  const headers = Object.keys(response.headers ?? {}).map((name) => `\`${name}\``)
  return (
    <div class="ruled reference-entry">
      <p class="row wrap reference-content">
        <span class="badge status-ok">{status}</span>
        <span>{response.description}</span>
        {headers.length > 0 ? (
          <span class="quiet">
            <InlineText>{`Headers: ${headers.join(", ")}`}</InlineText>
          </span>
        ) : null}
      </p>
      <Body schemas={schemas} contents={response.content ?? {}} isResponse />
    </div>
  )
}
