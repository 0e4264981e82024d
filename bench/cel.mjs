// `npm run bench -- cel`: rules as CustomResourceDefinitions have them, beside the fastest CEL package of npm; rules over
// long lists; the compilation of a large schema; and expressions that spend their whole budget as slowly as they can.
import { Environment } from '@marcbachmann/cel-js'
import { compile, createEnvironment, extendEnvironment, RULE_ENVIRONMENT, types } from '../dist/cel/index.js'
import { compileRules, ruleEnvironment } from '../dist/schema/rules/compile-rules.js'
import { RuleCompiler } from '../dist/schema/rules/rule-compiler.js'
import { parseSchema } from '../dist/schema/structure/structural.js'
import { partType } from '../dist/schema/structure/structural-type.js'
import { celReader, declareTypes } from '../dist/types/cel-types.js'
import { builtinTypes } from '../dist/types/type-table.js'
import { RULES } from './cel-rules.mjs'
import { median, perSecond, printTable, report, sideBySide } from './side-by-side.mjs'

export async function run() {
  await typicalRules()
  longList()
  largeSchema()
  hostileRules()
  printTable()
}

// ---- typical rules

async function typicalRules() {
  const ratios = []
  const total = { ours: 0, theirs: 0 }
  for (const example of RULES) {
    const [ours, theirs] = [ourRule(example), theirRule(example)]
    if (ours() !== true) throw new Error(`Binnacle does not hold: ${example.rule}`)
    if (theirs?.() !== true) {
      console.error(`${example.name}: the other package cannot run it`)
      continue
    }
    const repeat = evaluate => () => {
      for (let i = 0; i < 20_000; i++) evaluate()
      return 20_000
    }
    const rates = await sideBySide({ ours: repeat(ours), theirs: repeat(theirs) }, { warmups: 2 })
    ratios.push(rates.ours / rates.theirs)
    total.ours += 1 / rates.ours
    total.theirs += 1 / rates.theirs
    console.error(
      `${example.name}: ${perSecond(rates.ours)} / ${perSecond(rates.theirs)} → ${(rates.ours / rates.theirs).toFixed(2)}`,
    )
  }
  const middle = median(ratios)
  const rate = seconds => perSecond(ratios.length / seconds)
  const what = `twenty typical rules, ${ratios.length} of which both can run: the median ratio`
  report(what, rate(total.ours), `@marcbachmann/cel-js ${rate(total.theirs)}`, middle.toFixed(2), '>= 5', middle >= 5)
}

const base = createEnvironment(RULE_ENVIRONMENT)

/** As the server evaluates them: typed by the schema, over the JSON of the object, with the cost counted. */
function ourRule({ rule, schema, self, oldSelf }) {
  const { root, objectTypes } = declareTypes(partType(builtinTypes(), parseSchema(schema)), { isResource: false })
  const { evaluate } = programOf(rule, ruleEnvironment(root, objectTypes, false))
  const read = celReader(root)
  if (oldSelf === undefined) return () => evaluate({ self: read(self) }).value
  return () => evaluate({ self: read(self), oldSelf: read(oldSelf) }).value
}

function programOf(expression, environment) {
  const compiled = compile(expression, environment)
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.program
}

/** Its ints are bigints, which are made beforehand. Undefined if it cannot run the rule. */
function theirRule({ rule, schema, self, oldSelf }) {
  try {
    const environment = new Environment({ unlistedVariablesAreDyn: true })
    for (const name of ['self', 'oldSelf']) environment.registerVariable(name, theirType(schema))
    const evaluate = environment.parse(rule)
    const variables = { self: withBigInts(self), oldSelf: withBigInts(oldSelf) }
    return () => evaluate(variables)
  } catch {
    return undefined
  }
}

function theirType({ type, items, additionalProperties }) {
  if (type === 'integer') return 'int'
  if (type === 'array') return `list<${theirType(items)}>`
  if (type !== 'object') return type
  return `map<string, ${additionalProperties ? theirType(additionalProperties) : 'dyn'}>`
}

function withBigInts(value) {
  if (typeof value === 'number') return BigInt(value)
  if (Array.isArray(value)) return value.map(withBigInts)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withBigInts(member)]))
}

// ---- sizes

function longList() {
  const { schema } = RULES.find(({ name }) => name.startsWith('network policies'))
  const self = Array.from({ length: 1000 }, (_, i) =>
    i % 2 ? { portNumber: i } : { portRange: { start: i, end: i + 1 } },
  )
  const { rule } = RULES.find(({ name }) => name.startsWith('network policies'))
  const evaluate = ourRule({ rule, schema, self })
  const took = fastest(() => evaluate(), 200)
  report('a rule over 1,000 items', `${took.toFixed(2)} ms`, '—', `${took.toFixed(2)} ms`, '< 1 ms', took < 1)
}

function largeSchema() {
  // A definition repeats itself, in its versions and in what it is made of: here each rule stands ten times.
  const first = timed(() => compileAll(() => ''))
  // No rule is another one of this schema or of those before.
  const different = timed(() => compileAll(i => ` || ${i} < 0`))
  const later = Math.min(...Array.from({ length: 10 }, (_, n) => timed(() => compileAll(i => ` || ${i} < -${n + 1}`))))
  const what = 'compiling a schema with 200 rules, with their costs'
  report(what, `${first.toFixed(0)} ms at first`, '—', `${first.toFixed(0)} ms`, '< 100 ms', first < 100)
  const figures = `${different.toFixed(0)} ms at first, ${later.toFixed(0)} ms later`
  report('the same with 200 different rules', figures, '—', `${different.toFixed(0)} ms`, '< 100 ms', different < 100)
}

function compileAll(variation) {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => {
      const { rule, schema } = RULES[i % RULES.length]
      return [`field${i}`, { ...schema, 'x-kubernetes-validations': [{ rule: `(${rule})${variation(i)}` }] }]
    }),
  )
  const root = compileRules(parseSchema({ type: 'object', properties }), new RuleCompiler())
  for (const node of root.properties.values()) {
    for (const { error } of node.rules) if (error !== undefined) throw new Error(error)
  }
}

// ---- expressions that make the most of their budget

const LONG = 'a'.repeat(3_000_000)
const HOSTILE_VARIABLES = {
  s: LONG,
  lists: Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, (_, i) => i)),
  texts: Array.from({ length: 300_000 }, (_, i) => `x${i}`),
}
const HOSTILE = [
  's.matches("(a|aa)+$")',
  's.matches("((a?){20}){20}b")',
  'lists.range(100000).all(i, "a".matches("a{1,999}" + string(i)) || true)',
  's.findAll("").size() > 0',
  's.replace("a", "bb").replace("b", "cc").size() > 0',
  's.split("").join("b").size() > 0',
  's.indexOf("b" + s.substring(0, 1000000)) == -1',
  's.lastIndexOf(s.substring(0, 1000000) + "b") == -1',
  'lists.range(60).all(i, lists.range(60).all(j, lists.range(60).all(k, i + j + k >= 0)))',
  'lists.range(100000).all(i, quantity(string(i)).add(quantity("1n")).compareTo(quantity("0")) > 0)',
  'lists.range(100000).all(i, timestamp("2024-01-01T00:00:00Z").getHours("America/New_York") >= 0)',
  'lists.range(100000).all(i, cidr("192.168.0.0/24").containsIP("192.168.0.1"))',
  'lists.range(100000).all(i, [lists] == [lists])',
  'lists.range(100000).all(i, lists + lists != lists)',
  'lists.range(100000).all(i, lists.flatten().size() > 0)',
  'lists.range(100000).all(i, "%s".format([texts]) != "")',
  'lists.range(100000).all(i, "%x".format([s]) != "")',
  'lists.range(100000).all(i, s.size() > 0)',
  'lists.range(100000).all(i, bytes(s).size() > 0)',
  'duration(s.replace("a", "1h")) == duration("1s") || true',
  'sets.contains(lists.slice(0, 900).map(x, x + [1]), lists.slice(0, 900).map(x, x + [2]))',
  'texts.slice(0, 600).sort().distinct().size() > 0',
]

function hostileRules() {
  const { STRING, INT, listOf } = types
  const variables = { s: STRING, lists: listOf(listOf(INT)), texts: listOf(STRING) }
  const environment = extendEnvironment(base, { variables })
  let slowest = { took: 0, expression: '' }
  for (const expression of HOSTILE) {
    const { evaluate } = programOf(expression, environment)
    // The first time counts: an attack does not warm the server up first.
    const took = timed(() => evaluate(HOSTILE_VARIABLES))
    console.error(`${took.toFixed(0)} ms: ${expression}`)
    if (took > slowest.took) slowest = { took, expression }
  }
  const what = `the slowest of ${HOSTILE.length} hostile expressions at the limit of 1,000,000`
  report(
    what,
    `${slowest.took.toFixed(0)} ms`,
    '—',
    `${(slowest.took / 1000).toFixed(2)} s`,
    '<= 1 s',
    slowest.took <= 1000,
  )
  console.error(`it was ${slowest.expression}`)
}

/** Milliseconds of the processor, which others may be using, too. */
function timed(work) {
  const begin = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}

const fastest = (work, times) => Math.min(...Array.from({ length: times }, () => timed(work)))
