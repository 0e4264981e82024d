// `binnacle cel explain`: the estimated costs of the validation rules of a CRD, ways to lower them, and the result of the
// rules for an object.
import { readFileSync } from 'node:fs'
import { UsageError } from '../../base/usage-error.js'
import { UNBOUNDED } from '../../cel/index.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml } from '../../codec/yaml.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type Bound, type CostPart, explainCosts, findRemedies, type RuleCost } from '../../schema/explain-costs.js'
import {
  compileRules,
  type EvaluatedRule,
  evaluateRules,
  RULE_COST_LIMIT,
  RuleCompiler,
  TOTAL_COST_LIMIT,
} from '../../schema/rules.js'
import { parseSchema } from '../../schema/structural.js'
import { optionalText } from '../../server/options.js'
import { parseFlags, printFlags } from '../flags/flags.js'
import { explainPolicyCosts, isPolicy } from './policy-costs.js'

const explainFlags = {
  rule: optionalText('EXPRESSION', 'a rule on the root of the schema, in the place of its own rules'),
  version: optionalText('NAME', 'the version of the definition; all versions with a schema if not given'),
  object: optionalText('FILE', 'an object on which to evaluate the rules'),
  'old-object': optionalText('FILE', 'the object before the change, for transition rules'),
  params: optionalText('FILE', 'the parameters of a policy'),
}

export const CEL_HELP = `Usage: binnacle cel explain FILE [flags]

Explains the expressions of an admission policy, and the validation rules of a CustomResourceDefinition or of a schema, in YAML or JSON (- reads stdin): what each may
cost by estimate, part by part, against the limits of ${count(RULE_COST_LIMIT)} for a rule and ${count(TOTAL_COST_LIMIT)} for a schema, and which
maxItems, maxLength or maxProperties would bring it under the limit. With --object the rules are evaluated, too.

Exit code: 0 without findings, 1 if a rule is wrong, fails or costs too much, 2 if the command line or a file is wrong.

Flags:
${printFlags(explainFlags)}

Examples:
  binnacle cel explain crd.yaml
  binnacle cel explain crd.yaml --object widget.yaml
  binnacle cel explain schema.yaml --rule 'self.replicas <= self.maxReplicas'
`

export async function cel(args: readonly string[]): Promise<void> {
  try {
    const { text, ok } = explain(args)
    process.stdout.write(text)
    process.exitCode = ok ? 0 : 1
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`binnacle: ${error.message}`)
    process.exitCode = 2
  }
}

export interface Explained {
  readonly text: string
  /** False if a rule is wrong, fails, or costs too much. */
  readonly ok: boolean
}

export function explain([command, ...args]: readonly string[]): Explained {
  if (command !== 'explain') {
    const what = command === undefined ? 'cel needs a command' : `there is no command cel ${command}`
    throw new UsageError(`${what}: binnacle cel explain FILE`)
  }
  const file = args.find((arg, i) => isFile(arg) && !takesValue(args[i - 1]))
  if (file === undefined) throw new UsageError('there is no file to explain: binnacle cel explain FILE')
  const { values } = parseFlags(
    args.filter(arg => arg !== file),
    explainFlags,
  )
  const value = readValue(file)
  const object = values.object === undefined ? undefined : readObject(values.object)
  const old = values['old-object'] === undefined ? undefined : readObject(values['old-object'])
  const params = values.params === undefined ? undefined : readObject(values.params)
  if (isObject(value) && isPolicy(value)) return explainPolicyCosts(value, { object, old, params })
  const schemas = schemasIn(value, file, values.version)
  if (old !== undefined && object === undefined) throw new UsageError('--old-object is for use with --object')
  const reports = schemas.map(({ title, schema }) => {
    const ruled = values.rule === undefined ? schema : withOnlyRule(schema, values.rule)
    return explainSchema(title, ruled, object, old)
  })
  return { text: reports.map(({ text }) => text).join('\n'), ok: reports.every(({ ok }) => ok) }
}

const isFile = (arg: string): boolean => arg === '-' || !arg.startsWith('-')

/** True for a flag whose value is the next argument. */
const takesValue = (arg: string | undefined): boolean => arg?.startsWith('--') === true && !arg.includes('=')

// ---- reading

function readValue(file: string): Value {
  try {
    return decodeYaml(readFileSync(file === '-' ? 0 : file)).value
  } catch (error) {
    if (error instanceof CodecError) throw new UsageError(`${file} is neither YAML nor JSON: ${error.message}`)
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read: ${message}`)
  }
}

function readObject(file: string): ValueObject {
  const value = readValue(file)
  if (!isObject(value)) throw new UsageError(`${file} does not hold an object`)
  return value
}

interface NamedSchema {
  readonly title: string
  readonly schema: ValueObject
}

function schemasIn(value: Value, file: string, version: string | undefined): readonly NamedSchema[] {
  if (!isObject(value)) throw new UsageError(`${file} holds neither a CustomResourceDefinition nor a schema`)
  if (value['kind'] !== 'CustomResourceDefinition') {
    const schema = getOwn(value, 'openAPIV3Schema') ?? value
    if (isObject(schema) && (schema['type'] !== undefined || schema['properties'] !== undefined)) {
      return [{ title: file, schema }]
    }
    throw new UsageError(`${file} holds neither a CustomResourceDefinition nor a schema with a type`)
  }
  const spec = member(value, 'spec')
  const versions = spec['versions']
  const all = (Array.isArray(versions) ? versions : []).filter(isObject).flatMap((each): readonly NamedSchema[] => {
    const schema = member(each, 'schema')['openAPIV3Schema']
    const title = `${textOf(member(spec, 'names')['kind'])} ${textOf(each['name'])}`
    return isObject(schema) && (version === undefined || each['name'] === version) ? [{ title, schema }] : []
  })
  if (all.length > 0) return all
  throw new UsageError(`${file} has no ${version === undefined ? 'version' : `version ${version}`} with a schema`)
}

function member(object: ValueObject, key: string): ValueObject {
  const found = getOwn(object, key)
  return isObject(found) ? found : {}
}

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '?')

const RULES = 'x-kubernetes-validations'

/** The schema with this rule on its root and no other anywhere. */
function withOnlyRule(schema: ValueObject, rule: string): ValueObject {
  const strip = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(strip)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, each]) => key !== RULES || !Array.isArray(each))
        .map(([key, each]) => [key, strip(each)]),
    )
  }
  return { ...(strip(schema) as ValueObject), [RULES]: [{ rule }] }
}

// ---- printing

function explainSchema(title: string, schema: ValueObject, object?: ValueObject, old?: ValueObject): Explained {
  const costs = explainCosts(schema)
  if (costs.length === 0) return { text: `${title}: no validation rules\n`, ok: true }
  const total = costs.reduce((sum, cost) => Math.min(sum + cost.total, UNBOUNDED), 0)
  const lines = [`${title}: ${costs.length} validation rule${costs.length === 1 ? '' : 's'}`, '']
  for (const [i, cost] of costs.entries()) lines.push(...explainRule(cost, schema, i), '')
  lines.push(`All rules together cost up to ${againstLimit(total, TOTAL_COST_LIMIT)} for a schema.`)
  let ok = total <= TOTAL_COST_LIMIT && costs.every(isFine)
  if (object !== undefined) {
    const evaluated = evaluate(schema, object, old)
    lines.push('', 'On the object:', ...evaluated.lines)
    ok = ok && evaluated.ok
  }
  return { text: `${lines.join('\n')}\n`, ok }
}

const isFine = ({ compiled: { error, messageError }, total }: RuleCost): boolean =>
  error === undefined && messageError === undefined && total <= RULE_COST_LIMIT

function explainRule(cost: RuleCost, schema: ValueObject, index: number): readonly string[] {
  const { compiled, field, once, times, total, parts } = cost
  const lines = [`${field === '' ? '(root)' : field}: ${compiled.rule.rule.trim()}`]
  const wrong = compiled.error ?? compiled.messageError
  if (wrong !== undefined) lines.push(...indent(`WRONG: ${wrong}`, 2))
  if (compiled.error !== undefined) return lines
  const often = times === 1 ? '' : `${count(once)} each time × up to ${count(times)} times = `
  lines.push(`  costs up to ${often}${againstLimit(total, RULE_COST_LIMIT)} for a rule`, '', ...printParts(parts))
  return total > RULE_COST_LIMIT ? [...lines, '', ...printRemedies(schema, index)] : lines
}

function printParts(parts: readonly CostPart[]): readonly string[] {
  const width = Math.max(...parts.map(({ cost }) => count(cost).length))
  return parts.map(({ text, depth, cost, size, repeated }) => {
    const notes = [
      repeated ? 'for each element' : '',
      size === undefined || size === 0 ? '' : `size up to ${count(size)}`,
    ]
    const note = notes.filter(Boolean).join(', ')
    return `  ${count(cost).padStart(width)}  ${'  '.repeat(depth)}${shortened(text)}${note === '' ? '' : `   (${note})`}`
  })
}

function printRemedies(schema: ValueObject, index: number): readonly string[] {
  const { alone, together } = findRemedies(schema, index)
  const line = ({ field, keyword, max }: Bound): string => `    ${field === '' ? '(root)' : field}: ${keyword}: ${max}`
  const lines: string[] = []
  if (alone.length > 0) {
    const head = alone.length === 1 ? 'This bound, or a smaller one,' : 'Any one of these bounds, or a smaller one,'
    lines.push(`  ${head} brings it under the limit:`, ...alone.map(line))
  }
  if (together.length > 0) {
    const head = alone.length === 0 ? 'These bounds bring it under the limit' : 'So do these'
    lines.push(`  ${head}, all of them together:`, ...together.map(line))
  }
  if (lines.length > 0) return lines
  return ['  No maxItems, maxLength or maxProperties brings it under the limit: the rule has to be simplified.']
}

function evaluate(schema: ValueObject, object: ValueObject, old: ValueObject | undefined) {
  const lines: string[] = []
  let ok = true
  const root = compileRules(parseSchema(schema), new RuleCompiler())
  const seen = (rule: EvaluatedRule): void => {
    const { field, compiled, cost, errors, skipped } = rule
    const where = `${field === '' ? '(root)' : field}: ${shortened(compiled.rule.rule.trim())}`
    if (skipped) return void lines.push(`  skipped  ${where}   (nothing to compare with: --old-object)`)
    lines.push(`  ${errors.length === 0 ? 'holds  ' : 'FAILS  '}  ${where}   (cost ${count(cost)})`)
    for (const { detail } of errors) lines.push(...indent(detail, 11))
    if (errors.length > 0) ok = false
  }
  if (root !== undefined) evaluateRules(root, object, old, seen)
  return { lines: lines.length === 0 ? ['  no rule applies to what it holds'] : lines, ok }
}

const indent = (text: string, by: number): readonly string[] => text.split('\n').map(line => ' '.repeat(by) + line)

const MAX = 90

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= MAX ? line : `${line.slice(0, MAX - 1)}…`
}

function againstLimit(cost: number, limit: number): string {
  const share = cost / limit
  if (share <= 1)
    return `${count(cost)}: ${share < 0.01 ? 'less than 1' : Math.ceil(share * 100)}% of the limit of ${count(limit)}`
  return `${count(cost)}: ${share > 1000 ? 'more than 1,000' : share.toFixed(1)} × the limit of ${count(limit)}`
}

function count(value: number): string {
  return value >= UNBOUNDED ? 'unbounded' : value.toLocaleString('en-US')
}
