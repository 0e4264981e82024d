// LeaseCandidate: a process that may become the holder of a Lease, with the versions by which the holder is chosen.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkConfigKey, checkQualifiedName } from '../../meta/object/names.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { compareSemver, parseSemver, type Semver } from '../../meta/values/semver.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { deprecationWarning, earlierVersion } from '../common/earlier-version.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { anyFinalizerUpdate, metadata } from '../common/metadata.js'
import { check, field, immutable, type Rule, required } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const OLDEST = 'OldestEmulationVersion'
const NOT_LESS = 'must be greater than or equal to `emulationVersion`'
const NEEDED = `must be specified when \`strategy\` is '${OLDEST}'`

/** Counts for a version that is absent or cannot be read. */
const ZERO: Semver = { numbers: [0n, 0n, 0n], prerelease: [] }

function readVersion(text: string, path: string, errors: FieldError[]): Semver {
  const version = parseSemver(text)
  if (version.ok) return version.value
  if (text !== '') errors.push(fieldInvalid(path, text, 'must be a valid semantic version'))
  return ZERO
}

const versionsAndStrategy = check((spec, path) => {
  const [emulation, binary] = [stringAt(spec, 'emulationVersion'), stringAt(spec, 'binaryVersion')]
  const errors: FieldError[] = []
  const emulationVersion = readVersion(emulation, `${path}.emulationVersion`, errors)
  const binaryVersion = readVersion(binary, `${path}.binaryVersion`, errors)
  if (binary === '') errors.push(fieldRequired(`${path}.binaryVersion`))
  else if (emulation !== '' && compareSemver(binaryVersion, emulationVersion) < 0) {
    errors.push(fieldInvalid(`${path}.binaryVersion`, binary, NOT_LESS))
  }
  const strategy = stringAt(spec, 'strategy')
  if (strategy === OLDEST && compareSemver(emulationVersion, ZERO) === 0) {
    errors.push(fieldRequired(`${path}.emulationVersion`, NEEDED))
  }
  return [...errors, ...checkStrategy(strategy, `${path}.strategy`)]
})

/** Kubernetes' own strategy, or one of another domain. The path names the field twice, as kube-apiserver has it. */
function checkStrategy(strategy: string, path: string): FieldError[] {
  if (strategy === '') return [fieldRequired(path)]
  const at = `${path}.strategy`
  return strategy.includes('/') ? checkText(strategy, checkQualifiedName, at) : checkOneOf(strategy, [OLDEST], at)
}

const specRules: readonly Rule[] = [required('leaseName'), versionsAndStrategy]

const apiVersion = 'coordination.k8s.io/v1beta1'
const kind = 'LeaseCandidate'

const leaseCandidate: KindDefinition = defineKind(apiVersion, kind, {
  strategy: {
    prepareForUpdate: keepGeneration,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    deprecationWarning: deprecationWarning(apiVersion, kind, { since: 36 }),
  },
  validation: validationRules({
    create: [metadata({ namespaced: true, name: checkConfigKey, knownFinalizers: false }), field('spec', specRules)],
    update: [anyFinalizerUpdate, field('spec', [...specRules, immutable('leaseName')])],
  }),
  table: (object, now) => {
    const spec = objectAt(object, 'spec')
    const cells = ['leaseName', 'binaryVersion', 'emulationVersion'].map(name => stringAt(spec, name))
    return [nameOf(object), ...cells, ageOf(object, now)]
  },
})

export const leaseCandidates = [leaseCandidate, earlierVersion(leaseCandidate, 'v1alpha2', { since: 35 })]
