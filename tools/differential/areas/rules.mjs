// Validation rules of definitions: compiled, estimated, and evaluated on objects.
import { expressionOf, SELF, sampleValues, shown } from '../expressions.mjs'
import {
  createNamespace,
  DEFINITIONS,
  definitionOf,
  install,
  patch,
  post,
  put,
  TOKEN,
  WIDGETS,
  widget,
} from '../requests.mjs'

export async function rules(random, ask) {
  const candidates = random.times(10, () => ruleOf(random))
  const checks = candidates.map(rule => post(`${DEFINITIONS}?dryRun=All`, definitionWith([rule])))
  const compiled = []
  for (const [i, check] of checks.entries()) if ((await ask(check)).status === 201) compiled.push(candidates[i])
  const steps = checks.map(check => Object.assign(check, { ignore: ['/spec', '/metadata/managedFields'] }))
  if (compiled.length === 0) return { about: 'rules that do not compile', steps }
  steps.push(createNamespace(), ...install(definitionWith(compiled)))
  for (let i = 0; i < 4; i++) steps.push(post(WIDGETS, widget(`o${i}`, { spec: sampleValues(random) })))
  steps.push(
    post(WIDGETS, widget('skip', { spec: { b: false, t: 'skip' } })),
    put(`${WIDGETS}/skip`, widget('skip', { spec: { ...sampleValues(random), t: 'skip' } })),
    patch('merge', `${WIDGETS}/skip`, { spec: sampleValues(random) }),
  )
  return { about: 'rules and objects', steps, cleanup: [`${DEFINITIONS}/widgets.${TOKEN}.example.com`] }
}

const definitionWith = validations =>
  definitionOf({ type: 'object', properties: { spec: { ...SELF, 'x-kubernetes-validations': validations } } })

function ruleOf(random) {
  const depth = random.between(1, 3)
  if (random.chance(0.5)) return { rule: "has(self.t) && self.t == 'skip'", messageExpression: shown(random, depth) }
  return {
    rule: expressionOf(random, random.chance(0.96) ? 'bool' : 'int', depth).replace(/\bself\b/g, name =>
      random.chance(0.04) ? 'oldSelf' : name,
    ),
    ...(random.chance(0.3) && { message: 'must hold' }),
    ...(random.chance(0.1) && {
      reason: random.pick([
        'FieldValueInvalid',
        'FieldValueForbidden',
        'FieldValueRequired',
        'FieldValueDuplicate',
        'Other',
      ]),
    }),
    ...(random.chance(0.1) && { fieldPath: random.pick(['.i', '.o.x', '.nix', '.m.k', "['s']", 'i']) }),
    ...(random.chance(0.1) && { optionalOldSelf: true }),
  }
}
