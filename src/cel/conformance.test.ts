import { tests as checking } from '@bufbuild/cel-spec/testdata/checking.js'
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js'
import { describe, expect, test } from 'vitest'
import { printType } from './check/cel-type.js'
import { check } from './check/checker.js'
import {
  baselineEnvironment,
  type Case,
  casesOf,
  NeedsMessages,
  needsMessages,
  readType,
  readValue,
  type Suite,
} from './conformance.suite.js'
import { compile, WorkBudget } from './index.js'
import { debugPrint } from './syntax/debug-print.suite.js'
import { EXISTS_ONE_MACRO, STANDARD_MACROS } from './syntax/macros.js'
import { parse } from './syntax/parser.js'
import { printIssues } from './syntax/source.js'
import { equal, type Value } from './values/values.js'

/** Cases that go another way here, each with the reason. */
const OTHERWISE: readonly (readonly [cases: RegExp, reason: string])[] = [
  [
    /map_key_float|map_value_repeat_key/,
    'as in cel-go, a map literal takes doubles as keys, and the last of equal keys',
  ],
  [/null_assignable_to_abstract_parameter_candidate/, 'as in cel-go, a list of an optional and null is one of nulls'],
  [/duration_converters\/get_milliseconds/, 'as in cel-go, all of the duration in milliseconds'],
  [
    /map_null_entry_no_such_key|map_present_key_invalid_field/,
    'as in kube-apiserver, an optional scalar has no fields, which is no error',
  ],
  [/map_bad_key_type_/, 'as in cel-go, a constant that can be no key is an error before anything is evaluated'],
  [/value_errors\/(last)?indexof_out_of_range/, 'as in cel-go, nothing is found behind the end of a text'],
  [/string_ext\/format\//, 'version 2 of the library: %f groups digits, %e writes powers of ten, parts are quoted'],
]

/** Sections about libraries that are not offered, or about what only protobuf messages have. */
const LEFT_OUT = /^(?:math_ext|encoders_ext|block_ext|proto2|proto2_ext|proto3|enums|wrappers|dynamic|unknowns)\//

function evaluate(original: Case): string | undefined {
  const failing = original.evalError !== undefined || original.anyEvalErrors !== undefined
  const result = compile(original.expr, baselineEnvironment(original), { check: original.disableCheck !== true })
  if (!result.ok) return failing ? undefined : result.message
  const { program } = result
  const deduced = original.typedResult?.deducedType
  if (deduced && printType(readType(deduced)) !== printType(program.type)) return `is a ${printType(program.type)}`
  if (original.checkOnly === true) return undefined
  const variables: Record<string, Value> = {}
  for (const [name, { value }] of Object.entries(original.bindings ?? {})) variables[name] = readValue(value!)
  const { value, error } = program.evaluate(variables)
  if (failing) return error ? undefined : `is ${print(value)}, no error`
  if (error) return error.message
  const expected = original.value ?? original.typedResult?.result
  if (expected === undefined && original.typedResult) return undefined
  const wanted = expected === undefined ? true : readValue(expected)
  // NaN is not equal to itself, yet the same result.
  return equal(value!, wanted, new WorkBudget()) || print(value) === print(wanted)
    ? undefined
    : `is ${print(value)}, not ${print(wanted)}`
}

const print = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined'

describe('the public conformance suite', () => {
  test('evaluates as expected', () => {
    let passed = 0
    const otherwise: string[] = []
    const failed: string[] = []
    for (const { name, original } of casesOf(conformance)) {
      if (LEFT_OUT.test(name) || needsMessages(original)) continue
      try {
        const fault = evaluate(original)
        if (fault === undefined) passed++
        else if (OTHERWISE.some(([cases]) => cases.test(name))) otherwise.push(name)
        else failed.push(`${name}: ${original.expr}: ${fault}`)
      } catch (error) {
        if (!(error instanceof NeedsMessages)) throw error
      }
    }
    expect(failed).toEqual([])
    expect(passed).toBeGreaterThan(1100)
    expect(passed / (passed + otherwise.length)).toBeGreaterThan(0.98)
  })

  const suites = { parsing, checking, conformance } as unknown as Record<string, Suite>
  test.each(Object.keys(suites))('trees of the %s baselines', name => {
    let compared = 0
    const failed: string[] = []
    for (const { name: path, original, ast, checkedAst, error } of casesOf(suites[name]!)) {
      if (LEFT_OUT.test(path) || needsMessages(original)) continue
      try {
        if (ast === undefined || LIMITED.test(error ?? '')) continue
        const fault = astError(original, ast) || checkedError(original, checkedAst)
        compared++
        if (fault !== '') failed.push(`${original.expr}\n${fault}`)
      } catch (thrown) {
        if (!(thrown instanceof NeedsMessages)) throw thrown
      }
    }
    expect(failed.slice(0, 5)).toEqual([])
    expect(compared).toBeGreaterThan(60)
  })

  test('errors of the parsing and checking baselines, word for word', () => {
    let compared = 0
    const failed: string[] = []
    for (const { original, error } of [...casesOf(suites.parsing!), ...casesOf(suites.checking!)]) {
      if (error === undefined || needsMessages(original) || OTHER_SETUP.test(original.expr + error)) continue
      const environment = { ...baselineEnvironment(original, { extensions: false }), optionalSyntax: false }
      const plain = { ...environment, quotedIdentifiers: false, macros: [...STANDARD_MACROS, EXISTS_ONE_MACRO] }
      const parsed = parse(original.expr, plain)
      const result = parsed.ok ? check(parsed.expr, plain) : parsed
      // The baselines name the source only where it was parsed well.
      const shown = result.ok ? '' : printIssues(parsed.source, result.issues, parsed.ok ? '<input>' : '')
      compared++
      if (shown !== error) failed.push(`${shown}\n--- expected\n${error}`)
    }
    expect(failed.slice(0, 5)).toEqual([])
    expect(compared).toBeGreaterThan(100)
  })
})

/** Made with smaller limits, with macros known to the parser alone, or where `?` ends the reading of a map. */
const OTHER_SETUP = /limit exceeded|max recursion|existsOne\(v|^\{\?'key': \{'a': 'b'\}/

/** Empty if all is the same. The parsed trees were made without the macros of extensions. */
function astError(original: Case, ast: string): string {
  const macros = original.disableMacros === true ? [] : [...STANDARD_MACROS, EXISTS_ONE_MACRO]
  const parsed = parse(original.expr, { macros, optionalSyntax: true, quotedIdentifiers: true })
  if (!parsed.ok) return printIssues(parsed.source, parsed.issues)
  const tree = debugPrint(parsed.expr)
  return normal(tree) === normal(ast) ? '' : `${tree}\n--- expected\n${ast}`
}

/** The checked trees were made with extensions in some suites and without in others. */
function checkedError(original: Case, checkedAst: string | undefined): string {
  if (checkedAst === undefined || original.disableCheck === true || SHARED_PARTS.test(original.expr)) return ''
  let error = ''
  for (const extensions of [false, true]) {
    const environment = baselineEnvironment(original, { extensions })
    const parsed = parse(original.expr, environment)
    if (!parsed.ok) return printIssues(parsed.source, parsed.issues)
    const result = check(parsed.expr, environment)
    const tree = result.ok ? debugPrint(parsed.expr, result.checked) : printIssues(parsed.source, result.issues)
    if (normal(tree) === normal(checkedAst)) return ''
    error = `${tree}\n--- expected\n${checkedAst}`
  }
  return error
}

/** Trees with a part in two places, of which the baseline shows the type before all was known. */
const SHARED_PARTS = /optMap|optional\.none\(\)/

/** Baselines made with options that this engine always has, or never has. */
const LIMITED = /limit exceeded|unsupported syntax/

/** The notation leaves out second variables, and escapes characters in ways of its own. */
const normal = (tree: string): string => tree.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\s+/g, ' ')
