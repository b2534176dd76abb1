import { Icon } from "../../ui/icon.tsx"
import { jsonContent, textContent } from "../requests/body-draft.ts"
import { describeType, expandSchema } from "../schemas/describe-schema.ts"
import { SchemaFields, SchemaRow } from "../schemas/schema-fields.tsx"
import {
  type Api,
  isErrorStatus,
  type Operation,
  type Parameter,
  type ResponseDefinition,
} from "./api.ts"
import { ErrorTable } from "./error-table.tsx"
import { InlineText } from "./inline-code.tsx"

interface DocsProps {
  readonly api: Api
  readonly operation: Operation
}

const locationTitles = {
  path: "Path parameters",
  query: "Query parameters",
  header: "Headers",
} as const

/** The description of an operation. */
export function OperationDocs({ api, operation }: DocsProps) {
  const errors = operation.responses.filter((response) => isErrorStatus(response.status))
  return (
    <>
      <ParameterSection api={api} operation={operation} location="path" />
      <ParameterSection api={api} operation={operation} location="query" />
      <BodySection api={api} operation={operation} />
      <ParameterSection api={api} operation={operation} location="header" />
      <ResponseSection api={api} operation={operation} />
      {errors.length > 0 ? (
        <section>
          <h2>Errors</h2>
          <ErrorTable
            errors={errors.flatMap((response) =>
              response.codes.map((code) => ({ code, status: response.status })),
            )}
          />
        </section>
      ) : null}
    </>
  )
}

function ParameterSection({
  api,
  operation,
  location,
}: DocsProps & { location: Parameter["location"] }) {
  const parameters = operation.parameters.filter((parameter) => parameter.location === location)
  if (parameters.length === 0) return null
  return (
    <section>
      <h2>{locationTitles[location]}</h2>
      <ul class="fields">
        {parameters.map(({ name, isRequired, schema, description }) => (
          <SchemaRow
            key={name}
            schemas={api.schemas}
            field={{ name, kind: "field", isRequired, schema }}
            description={description}
          />
        ))}
      </ul>
    </section>
  )
}

function BodySection({ api, operation }: DocsProps) {
  const { body } = operation
  if (!body) return null
  const json = jsonContent(body)
  const text = textContent(body)
  return (
    <section>
      <h2>
        Request body <span class="content-type">{json?.contentType}</span>
      </h2>
      {json ? <SchemaFields schemas={api.schemas} schema={json.schema} /> : null}
      {text ? (
        <p class="aside-note">
          {json ? "Also accepted as " : "Sent as "}
          <code>{text.contentType}</code>
          {text.schema.description
            ? `: ${text.schema.description.charAt(0).toLowerCase()}${text.schema.description.slice(1)}`
            : ""}
        </p>
      ) : null}
    </section>
  )
}

function ResponseSection({ api, operation }: DocsProps) {
  const responses = operation.responses.filter((response) => !isErrorStatus(response.status))
  return (
    <section>
      <h2>Responses</h2>
      {responses.map((response, index) => (
        <ResponseEntry
          key={response.status}
          api={api}
          operation={operation}
          response={response}
          isOpen={index === 0}
        />
      ))}
    </section>
  )
}

function ResponseEntry({
  api,
  operation,
  response,
  isOpen,
}: DocsProps & { response: ResponseDefinition; isOpen: boolean }) {
  const content = response.contents[0]
  const text = response.description === operation.summary ? "" : response.description
  const head = (
    <>
      <span class="badge status-ok">{response.status}</span>
      <span class="response-type">
        {content ? describeType(api.schemas, content.schema) : "no body"}
      </span>
      <span class="content-type">{content?.contentType}</span>
    </>
  )
  const hasFields = content !== undefined && expandSchema(api.schemas, content.schema).length > 0
  return (
    <div class="ruled response">
      {hasFields ? (
        <details class="response-details" open={isOpen}>
          <summary>
            <Icon name="chevron" />
            {head}
          </summary>
          <SchemaFields schemas={api.schemas} schema={content.schema} isResponse />
        </details>
      ) : (
        <div class="response-plain">{head}</div>
      )}
      {text || response.headers.length > 0 ? (
        <p class="response-note">
          <InlineText>
            {[
              text,
              response.headers.length > 0
                ? `Headers: ${response.headers.map((name) => `\`${name}\``).join(", ")}`
                : "",
            ]
              .filter(Boolean)
              .join(". ")}
          </InlineText>
        </p>
      ) : null}
    </div>
  )
}
