import { Icon } from "../../ui/icon.tsx"
import { jsonContent, textContent } from "../requests/body-draft.ts"
import { describeType, expandSchema } from "../schemas/describe-schema.ts"
import { SchemaFields, SchemaRow } from "../schemas/schema-fields.tsx"
import {
  type AnswerDefinition,
  type Api,
  isErrorStatus,
  type Operation,
  type Parameter,
} from "./api.ts"
import { ErrorTable } from "./error-table.tsx"
import { Text } from "./text.tsx"

interface DocsProps {
  readonly api: Api
  readonly operation: Operation
}

const placeTitles = {
  path: "Path parameters",
  query: "Query parameters",
  header: "Headers",
} as const

/** What there is to read about an operation. */
export function OperationDocs({ api, operation }: DocsProps) {
  const errors = operation.answers.filter((answer) => isErrorStatus(answer.status))
  return (
    <>
      <ParameterSection api={api} operation={operation} place="path" />
      <ParameterSection api={api} operation={operation} place="query" />
      <BodySection api={api} operation={operation} />
      <ParameterSection api={api} operation={operation} place="header" />
      <AnswerSection api={api} operation={operation} />
      {errors.length > 0 ? (
        <section>
          <h2>Errors</h2>
          <ErrorTable
            errors={errors.flatMap((answer) =>
              answer.codes.map((code) => ({ code, status: answer.status })),
            )}
          />
        </section>
      ) : null}
    </>
  )
}

function ParameterSection({ api, operation, place }: DocsProps & { place: Parameter["place"] }) {
  const parameters = operation.parameters.filter((parameter) => parameter.place === place)
  if (parameters.length === 0) return null
  return (
    <section>
      <h2>{placeTitles[place]}</h2>
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

function AnswerSection({ api, operation }: DocsProps) {
  const answers = operation.answers.filter((answer) => !isErrorStatus(answer.status))
  return (
    <section>
      <h2>Answers</h2>
      {answers.map((answer, index) => (
        <AnswerEntry
          key={answer.status}
          api={api}
          operation={operation}
          answer={answer}
          isOpen={index === 0}
        />
      ))}
    </section>
  )
}

function AnswerEntry({
  api,
  operation,
  answer,
  isOpen,
}: DocsProps & { answer: AnswerDefinition; isOpen: boolean }) {
  const content = answer.contents[0]
  const text = answer.description === operation.summary ? "" : answer.description
  const head = (
    <>
      <span class="status status-ok">{answer.status}</span>
      <span class="answer-type">
        {content ? describeType(api.schemas, content.schema) : "no body"}
      </span>
      <span class="content-type">{content?.contentType}</span>
    </>
  )
  const hasFields = content !== undefined && expandSchema(api.schemas, content.schema).length > 0
  return (
    <div class="answer">
      {hasFields ? (
        <details class="answer-details" open={isOpen}>
          <summary>
            <Icon name="chevron" />
            {head}
          </summary>
          <SchemaFields schemas={api.schemas} schema={content.schema} isAnswer />
        </details>
      ) : (
        <div class="answer-plain">{head}</div>
      )}
      {text || answer.headers.length > 0 ? (
        <p class="answer-note">
          <Text>
            {[
              text,
              answer.headers.length > 0
                ? `Headers: ${answer.headers.map((name) => `\`${name}\``).join(", ")}`
                : "",
            ]
              .filter(Boolean)
              .join(". ")}
          </Text>
        </p>
      ) : null}
    </div>
  )
}
