// A form that is made from the schema. It edits the same text as the YAML view.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { isObject, WholeFloat } from '../../../../src/meta/values/value.js'
import { FIELD_MANAGER } from '../../api/objects.js'
import type { KindSchema, Schema } from '../../api/openapi.js'
import { Button } from '../../ui/button.js'
import { EmptyState, Notice } from '../../ui/notice.js'
import { parseFieldPath } from '../../yaml/field-path.js'
import { constraints, typeName } from '../../yaml/schema-walk.js'
import { validate } from '../../yaml/validate.js'
import { encodeYaml, type Path, printPath, type Value, valueAt, withValue } from '../../yaml/yaml-document.js'
import type { ObjectTabProps } from './object-view.js'
import { SaveActions, saveRefusal } from './save-actions.js'
import { SaveDialogs, useSave } from './save-flow.js'

/** Fields of an object that are not for editing here: the server writes them, or the header shows them. */
const LEFT_OUT = new Set(['apiVersion', 'kind', 'metadata', 'status'])

interface FormContext {
  readonly root: Value
  readonly schema: KindSchema
  readonly set: (path: Path, value: Value | undefined) => void
  /** By printed path. */
  readonly problems: ReadonlyMap<string, string>
  readonly isReadOnly: boolean
}

export function FormTab(props: ObjectTabProps) {
  const { resource, path, schema, draft, isDeleted } = props
  const save = useSave({ resource, path, draft, mode: 'replace', manager: FIELD_MANAGER, force: false })
  const document = draft.document.value
  if (schema === undefined) return <EmptyState title="The server publishes no schema of this kind." />
  if (document.value === undefined)
    return <EmptyState title="The text is not valid YAML: mend it in the YAML view first." />
  const problems = new Map<string, string>()
  for (const { path: at, message } of validate(document.value, schema)) problems.set(printPath(at), message)
  for (const { field = '', message = '' } of draft.causes.value ?? [])
    problems.set(printPath(parseFieldPath(field)), message)
  const context: FormContext = {
    root: document.value,
    schema,
    set: (at, value) => draft.edit(encodeYaml(withValue(document.value, at, value))),
    problems,
    isReadOnly: isDeleted,
  }
  const root = schema.resolve(schema.root)
  const fields = Object.keys(root.properties ?? {}).filter(name => !LEFT_OUT.has(name))
  return (
    <div class="form-tab">
      <div class="editor-bar">
        <span class="muted">Labels and annotations are in the YAML view.</span>
        <SaveActions save={save} refused={saveRefusal(props, 'replace')} />
      </div>
      {save.error !== undefined && <Notice tone="error">{save.error}</Notice>}
      <form class="form" onSubmit={event => event.preventDefault()}>
        {fields.map(name => (
          <Field
            key={name}
            context={context}
            path={[name]}
            name={name}
            schema={schema.resolve(root.properties![name]!)}
            isRequired
          />
        ))}
      </form>
      <SaveDialogs save={save} />
    </div>
  )
}

interface FieldProps {
  readonly context: FormContext
  readonly path: Path
  readonly name: string
  readonly schema: Schema
  readonly isRequired?: boolean
}

function Field(props: FieldProps) {
  const { schema, context } = props
  if (schema.type === 'array' && schema.items !== undefined) return <ListField {...props} />
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) return <ObjectField {...props} />
  if (typeof schema.additionalProperties === 'object' && isPlain(context.schema.resolve(schema.additionalProperties)))
    return <MapField {...props} />
  return isPlain(schema) ? <PlainField {...props} /> : <YamlField {...props} />
}

const isPlain = (schema: Schema): boolean =>
  ['string', 'integer', 'number', 'boolean'].includes(schema.type ?? '') ||
  schema['x-kubernetes-int-or-string'] === true ||
  schema.format === 'int-or-string'

function Group({
  props,
  note,
  children,
  actions,
}: {
  props: FieldProps
  note: string
  children: ComponentChildren
  actions?: ComponentChildren
}) {
  const { path, name, schema, context, isRequired = false } = props
  const value = valueAt(context.root, path)
  const [isOpen, setOpen] = useState(isRequired || value !== undefined)
  return (
    <details class="form-group" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="form-name">{name}</span>
        <span class="muted">{note}</span>
        <Problem {...props} />
      </summary>
      {isOpen && (
        <div class="form-members">
          {schema.description !== undefined && <p class="form-help">{schema.description}</p>}
          {children}
          {actions}
        </div>
      )}
    </details>
  )
}

function ObjectField(props: FieldProps) {
  const { context, path, schema } = props
  const required = new Set(schema.required)
  const value = valueAt(context.root, path)
  const names = Object.keys(schema.properties!)
  // What is set or required comes first; the rest can be shown.
  const isSet = (name: string): boolean => required.has(name) || valueAt(value, [name]) !== undefined
  const [showsAll, setShowsAll] = useState(names.length <= 12)
  const shown = names.filter(name => showsAll || isSet(name))
  return (
    <Group props={props} note={value === undefined ? 'not set' : ''}>
      {shown.map(name => (
        <Field
          key={name}
          context={context}
          path={[...path, name]}
          name={name}
          schema={context.schema.resolve(schema.properties![name]!)}
          isRequired={required.has(name)}
        />
      ))}
      {shown.length < names.length && (
        <Button tone="quiet" onClick={() => setShowsAll(true)}>
          {names.length - shown.length} more fields
        </Button>
      )}
    </Group>
  )
}

function ListField(props: FieldProps) {
  const { context, path, name, schema } = props
  const value = valueAt(context.root, path)
  const items = Array.isArray(value) ? value : []
  const item = context.schema.resolve(schema.items!)
  const add = (): void => context.set(path, [...items, emptyOf(item)])
  return (
    <Group
      props={props}
      note={`${items.length} item${items.length === 1 ? '' : 's'}`}
      actions={
        <Button icon="plus" tone="quiet" onClick={add}>
          Add to {name}
        </Button>
      }
    >
      {items.map((each, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own
        <div class="form-item" key={index}>
          <Field context={context} path={[...path, index]} name={titleOf(each, index)} schema={item} isRequired />
          <Button
            icon="trash"
            label={`Remove item ${index}`}
            tone="quiet"
            onClick={() => context.set([...path, index], undefined)}
          />
        </div>
      ))}
    </Group>
  )
}

function titleOf(item: Value, index: number): string {
  const name = valueAt(item, ['name']) ?? valueAt(item, ['type'])
  return typeof name === 'string' && name !== '' ? name : `#${index}`
}

function MapField(props: FieldProps) {
  const { context, path, name, schema } = props
  const value = valueAt(context.root, path)
  const entries = isObject(value) ? Object.keys(value) : []
  const [key, setKey] = useState('')
  const member = context.schema.resolve(schema.additionalProperties as Schema)
  const add = (): void => {
    if (key === '' || entries.includes(key)) return
    context.set([...path, key], emptyOf(member))
    setKey('')
  }
  return (
    <Group
      props={props}
      note={`${entries.length} entr${entries.length === 1 ? 'y' : 'ies'}`}
      actions={
        <div class="form-row">
          <input
            type="text"
            aria-label={`New key of ${name}`}
            placeholder="new key"
            value={key}
            onInput={event => setKey(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key === 'Enter') add()
            }}
          />
          <Button icon="plus" tone="quiet" refused={key === '' ? 'Write a key first.' : undefined} onClick={add}>
            Add
          </Button>
        </div>
      }
    >
      {entries.map(each => (
        <div class="form-item" key={each}>
          <Field context={context} path={[...path, each]} name={each} schema={member} />
          <Button
            icon="trash"
            label={`Remove ${each}`}
            tone="quiet"
            onClick={() => context.set([...path, each], undefined)}
          />
        </div>
      ))}
    </Group>
  )
}

function PlainField({ context, path, name, schema, isRequired = false }: FieldProps) {
  const id = useId()
  const value = valueAt(context.root, path)
  const problem = context.problems.get(printPath(path))
  const help = [schema.description ?? '', ...constraints(schema)].filter(Boolean)
  const common = {
    id,
    disabled: context.isReadOnly,
    'aria-describedby': help.length > 0 ? `${id}-help` : undefined,
    'aria-invalid': problem === undefined ? undefined : ('true' as const),
  }
  return (
    <div class="form-field">
      <label for={id}>
        <span class="form-name">{name}</span>
        {isRequired && (
          <span class="form-required" title="required">
            *
          </span>
        )}
        <span class="muted">{typeName(schema, context.schema.resolve)}</span>
      </label>
      {schema.enum !== undefined || schema.type === 'boolean' ? (
        <select
          {...common}
          value={plainText(value)}
          onChange={event => context.set(path, readChoice(event.currentTarget.value, schema))}
        >
          <option value="">not set</option>
          {(schema.enum ?? [true, false]).map(each => (
            <option key={String(each)} value={String(each)}>
              {String(each)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type="text"
          inputMode={schema.type === 'integer' ? 'numeric' : schema.type === 'number' ? 'decimal' : 'text'}
          value={plainText(value)}
          placeholder={plainText(schema.default as Value | undefined) || 'not set'}
          onChange={event => context.set(path, readPlain(event.currentTarget.value, schema))}
        />
      )}
      {problem !== undefined && <p class="form-problem">{problem}</p>}
      {help.length > 0 && (
        <p class="form-help" id={`${id}-help`}>
          {help.join(' · ')}
        </p>
      )}
    </div>
  )
}

/** What has no field of its own: values of any shape. */
function YamlField({ context, path, name, schema }: FieldProps) {
  const value = valueAt(context.root, path)
  return (
    <div class="form-field">
      <span>
        <span class="form-name">{name}</span> <span class="muted">{typeName(schema, context.schema.resolve)}</span>
      </span>
      <pre class="form-yaml">{value === undefined ? 'not set' : encodeYaml(value).trimEnd()}</pre>
      {schema.description !== undefined && <p class="form-help">{schema.description}</p>}
    </div>
  )
}

function Problem({ context, path }: FieldProps) {
  const problem = context.problems.get(printPath(path))
  return problem === undefined ? null : <span class="form-problem">{problem}</span>
}

/** Values that are no texts, as lists, show as JSON: then the type is wrong, and validation says so. */
function plainText(value: Value | undefined): string {
  if (value === undefined || value === null) return ''
  if (value instanceof WholeFloat) return String(value.value)
  return typeof value === 'object' ? encodeYaml(value).trimEnd() : String(value)
}

function readChoice(text: string, schema: Schema): Value | undefined {
  if (text === '') return undefined
  if (schema.type === 'boolean') return text === 'true'
  return schema.enum?.find(each => String(each) === text) as Value
}

/** A number where one is expected and the text is one; else the text, so that validation names the mistake. */
function readPlain(text: string, schema: Schema): Value | undefined {
  if (text === '') return undefined
  const isNumeric = schema.type === 'integer' || schema.type === 'number' || isIntOrString(schema)
  if (!isNumeric || !/^-?\d+(\.\d+)?$/.test(text)) return text
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  return text.includes('.') ? (schema.type === 'number' ? number : text) : BigInt(text)
}

const isIntOrString = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string'

function emptyOf(schema: Schema): Value {
  if (schema.default !== undefined) return schema.default as Value
  if (schema.type === 'string') return ''
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0
  if (schema.type === 'boolean') return false
  return schema.type === 'array' ? [] : {}
}
