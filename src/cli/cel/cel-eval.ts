// `binnacle cel eval` and `binnacle cel repl`: expressions on an object.
import { createInterface } from 'node:readline'
import { type CelSession, createCelSession } from '../../authoring/cel-session.js'
import { isDefinition, readDocuments } from '../../authoring/documents.js'
import { UsageError } from '../../base/usage-error.js'
import { stringAt } from '../../meta/values/access.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { optionalText } from '../../server/options.js'
import { parseArguments, printFlags } from '../flags/flags.js'

const evalFlags = {
  object: optionalText('FILE', 'the object: self and object'),
  'old-object': optionalText('FILE', 'the object before a change: oldSelf and oldObject'),
  params: optionalText('FILE', 'the parameters of a policy: params'),
  crd: optionalText('FILE', 'the definition of the object: self then has the types of its schema'),
}

export const EVAL_HELP = `Usage: binnacle cel eval EXPRESSION [flags]
       binnacle cel repl [flags]

Evaluates an expression, with the functions that validation rules and admission policies have, and prints its value as JSON, its
type and its cost. repl reads expressions line by line; Tab completes fields, variables and functions.

Exit code: 0, 1 if the expression is wrong or fails, 2 if the command line or a file is wrong.

Flags:
${printFlags(evalFlags)}

Examples:
  binnacle cel eval 'self.spec.replicas > 2' --object=deployment.yaml
  binnacle cel repl --object=widget.yaml --crd=widget-crd.yaml
`

export async function evaluate(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, evalFlags)
  if (words.length !== 1) throw new UsageError("give one expression, in quotes: binnacle cel eval 'self.spec.size > 1'")
  const printed = print(sessionFor(values), words[0]!)
  process.stdout.write(printed.text)
  process.exitCode = printed.ok ? 0 : 1
}

export async function repl(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, evalFlags)
  if (words.length > 0) throw new UsageError('repl reads expressions from its input')
  const session = sessionFor(values)
  const { stdin: input, stdout: output } = process
  const completer = (line: string): [string[], string] => {
    const [candidates, replaced] = session.complete(line)
    return [[...candidates], replaced]
  }
  const lines = createInterface({ input, output, prompt: '> ', completer, terminal: output.isTTY && input.isTTY })
  if (output.isTTY) lines.prompt()
  for await (const line of lines) {
    if (line.trim() !== '') process.stdout.write(print(session, line).text)
    if (output.isTTY) lines.prompt()
  }
}

function print(session: CelSession, expression: string): { readonly text: string; readonly ok: boolean } {
  const result = session.evaluate(expression)
  if (!result.ok) return { text: `${result.error}\n`, ok: false }
  const { value, type, cost } = result
  const json =
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each), 2) ?? 'none'
  return { text: `${json}   (${type}, cost ${cost})\n`, ok: true }
}

interface EvalValues {
  readonly object: string | undefined
  readonly 'old-object': string | undefined
  readonly params: string | undefined
  readonly crd: string | undefined
}

function sessionFor(values: EvalValues): CelSession {
  const object = values.object === undefined ? undefined : objectIn(values.object)
  return createCelSession({
    object,
    old: values['old-object'] === undefined ? undefined : objectIn(values['old-object']),
    params: values.params === undefined ? undefined : objectIn(values.params),
    schema: values.crd === undefined ? undefined : schemaIn(values.crd, object),
  })
}

function objectIn(file: string): ValueObject {
  const { documents, findings } = readDocuments([file])
  if (documents.length === 1) return documents[0]!.value
  const why = findings[0]?.message ?? `it holds ${documents.length} objects`
  throw new UsageError(`${file} must hold one object: ${why}`)
}

/** The schema of the version that the object has. */
function schemaIn(file: string, object: ValueObject | undefined): ValueObject {
  const definition = readDocuments([file]).documents.find(isDefinition)
  const spec = definition && getOwn(definition.value, 'spec')
  const versions = isObject(spec) ? spec['versions'] : undefined
  const all = (Array.isArray(versions) ? versions : []).filter(isObject)
  const group = isObject(spec) ? stringAt(spec, 'group') : ''
  const wanted = all.find(version => object?.['apiVersion'] === `${group}/${stringAt(version, 'name')}`) ?? all[0]
  const schema = wanted && isObject(wanted['schema']) ? wanted['schema']['openAPIV3Schema'] : undefined
  if (isObject(schema)) return schema
  throw new UsageError(`${file} has no CustomResourceDefinition with a schema`)
}
