// The admission chain. First the mutating plugins change the object, one after the other; when nothing changes it any
// more, the validating plugins accept or refuse it.
//
//   mutate ── second run, if a plugin asked for it ── managedFields checked ── … check, validation … ── validate
//
// A plugin declares its operations and resources. The chain sorts the plugins by them when it is built, so that a write
// calls only the plugins that it concerns, and makes no promise where they answer at once.

import { whenDecided } from '../auth/authorizer.js'
import { type Awaitable, allOf, andThen, eachInTurn } from '../base/awaitable.js'
import type { FieldError } from '../meta/errors/field-errors.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { Attributes, Operation } from './attributes.js'
import type { ChainMetrics, Measure } from './chain-metrics.js'
import { withValidManagedFields } from './internal/managed-fields.js'

export interface AdmissionPlugin {
  /** kube-apiserver's name of the plugin. */
  readonly name: string
  readonly operations: ReadonlySet<Operation>
  /**
   * The resources that concern it, as `resource.group/subresource`: `pods`, `pods/resize`, `deployments.apps`;
   * `pods/*` is the resource with all of its subresources. All resources if absent.
   */
  readonly resources?: readonly string[] | undefined
  /** The object as it should be, or undefined if nothing changes, as always on DELETE. Throws a StatusError to refuse. */
  mutate?(attributes: Attributes): Awaitable<ApiObject | undefined | void>
  /** Errors of fields that need the user or other objects. They are reported together with those of the object's validation. */
  check?(attributes: Attributes): Awaitable<readonly FieldError[]>
  /** Throws a StatusError to refuse. */
  validate?(attributes: Attributes): Awaitable<void>
  /** See `Admission.stored`. */
  stored?(object: ApiObject, bytes: Buffer): void
}

export interface Admission {
  /** The object after all mutating plugins; undefined if none has changed it. */
  mutate(attributes: Attributes): Awaitable<ApiObject | undefined>
  /** The errors of all plugins that check fields. Called before the object is validated. */
  check(attributes: Attributes): Awaitable<readonly FieldError[]>
  validate(attributes: Attributes): Awaitable<void>
  /** An object of the attributes is stored as these bytes, for a plugin that keeps it. */
  stored(object: ApiObject, bytes: Buffer): void
}

type Mutate = (attributes: Attributes) => Awaitable<ApiObject | undefined | void>
type Check = (attributes: Attributes) => Awaitable<readonly FieldError[]>
type Validate = (attributes: Attributes) => Awaitable<void>

/** The plugins that one operation on one resource calls. */
interface Steps {
  readonly mutate: (attributes: Attributes) => Awaitable<ApiObject | undefined>
  readonly checking: readonly Check[]
  readonly validate: Validate
  readonly measureAdmit: Measure
  readonly measureValidate: Measure
}

type StepsByOperation = Readonly<Record<Operation, Steps>>

/** Plugins run in the order of the list. */
export function createAdmission(plugins: readonly AdmissionPlugin[], metrics: ChainMetrics = NO_METRICS): Admission {
  const declared = new Set(plugins.flatMap(({ resources = [] }) => resources))
  const byResource = new Map<string, StepsByOperation>()
  for (const resource of declared) byResource.set(resource, stepsFor(plugins, resource, metrics))
  const others = stepsFor(plugins, undefined, metrics)
  const keeping = plugins.filter(plugin => plugin.stored)

  function stepsOf({ resource: { group, resource }, subresource, operation }: Attributes): Steps {
    const name = group === '' ? resource : `${resource}.${group}`
    const steps = byResource.get(subresource === '' ? name : `${name}/${subresource}`) ?? byResource.get(`${name}/*`)
    return (steps ?? others)[operation]
  }

  return {
    mutate(attributes) {
      const { mutate, measureAdmit } = stepsOf(attributes)
      const mutated = measureAdmit(mutate, attributes)
      return andThen(mutated, changed => changed && withValidManagedFields(attributes, changed))
    },
    check(attributes) {
      const { checking } = stepsOf(attributes)
      return checking.length === 0
        ? NO_ERRORS
        : andThen(allOf(checking.map(step => step(attributes))), all => all.flat())
    },
    validate(attributes) {
      const { validate, measureValidate } = stepsOf(attributes)
      return measureValidate(validate, attributes)
    },
    stored(object, bytes) {
      for (const plugin of keeping) plugin.stored!(object, bytes)
    },
  }
}

const NO_ERRORS: readonly FieldError[] = []

/** The chain that admits everything. */
export const NO_ADMISSION: Admission = {
  mutate: () => undefined,
  check: () => NO_ERRORS,
  validate: () => {},
  stored: () => {},
}

const NO_METRICS: ChainMetrics = { step: () => (action, input) => action(input), plugin: () => undefined }

function stepsFor(
  plugins: readonly AdmissionPlugin[],
  resource: string | undefined,
  metrics: ChainMetrics,
): StepsByOperation {
  const matching = plugins.filter(
    ({ resources }) => !resources || (resource !== undefined && resources.some(each => includes(each, resource))),
  )
  const forOperation = (operation: Operation): Steps => {
    const steps = matching.filter(({ operations }) => operations.has(operation))
    const mutating = steps.flatMap(plugin =>
      plugin.mutate
        ? [measured(decided(plugin.mutate.bind(plugin)), metrics.plugin(plugin.name, 'admit', operation))]
        : [],
    )
    const validating = steps.flatMap(plugin =>
      plugin.validate
        ? [measured(decided(plugin.validate.bind(plugin)), metrics.plugin(plugin.name, 'validate', operation))]
        : [],
    )
    return {
      mutate: mutating.length === 0 ? () => undefined : attributes => mutateTwice(mutating, attributes),
      checking: steps.flatMap(plugin => (plugin.check ? [decided(plugin.check.bind(plugin))] : [])),
      validate: attributes => eachInTurn(validating, step => step(attributes)),
      measureAdmit: metrics.step('admit', operation),
      measureValidate: metrics.step('validate', operation),
    }
  }
  return {
    CREATE: forOperation('CREATE'),
    UPDATE: forOperation('UPDATE'),
    DELETE: forOperation('DELETE'),
    CONNECT: forOperation('CONNECT'),
  }
}

/** Expressions of a plugin may need decisions of authorizers that must be waited for. */
const decided =
  <T>(call: (attributes: Attributes) => Awaitable<T>): ((attributes: Attributes) => Awaitable<T>) =>
  attributes =>
    whenDecided(call, attributes)

const measured = <T>(
  call: (attributes: Attributes) => T,
  measure: Measure | undefined,
): ((attributes: Attributes) => T) => (measure ? attributes => measure(call, attributes) : call)

/** Whether what a plugin declares holds for a resource that some plugin declares. */
function includes(declared: string, resource: string): boolean {
  if (declared === resource) return true
  const [name] = resource.split('/')
  return declared === `${name}/*`
}

/** Runs the plugins from the one at `first` on; continues without a promise as long as they answer at once. */
function mutateFrom(steps: readonly Mutate[], first: number, attributes: Attributes): Awaitable<ApiObject | undefined> {
  let current = attributes
  for (let i = first; i < steps.length; i++) {
    const changed = steps[i]!(current)
    if (changed instanceof Promise) {
      const before = current
      return changed.then(async object => {
        const rest = await mutateFrom(steps, i + 1, object ? before.withObject(object) : before)
        return rest ?? object ?? (before === attributes ? undefined : before.object)
      })
    }
    if (changed) current = current.withObject(changed)
  }
  return current === attributes ? undefined : current.object
}

/** Once, and again if a plugin has asked for it. */
function mutateTwice(steps: readonly Mutate[], attributes: Attributes): Awaitable<ApiObject | undefined> {
  const { reinvocation } = attributes
  return andThen(mutateFrom(steps, 0, attributes), changed => {
    if (!reinvocation.isRequested) return changed
    reinvocation.begin()
    const again = mutateFrom(steps, 0, changed ? attributes.withObject(changed) : attributes)
    return andThen(again, object => object ?? changed)
  })
}
