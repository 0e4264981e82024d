// A function as a plugin. Its matching is checked and compiled as that of a webhook.

import { UsageError } from '../../base/usage-error.js'
import type { Kind } from '../../kinds/kind.js'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AdmissionPlugin } from '../chain.js'
import { type Webhook, webhooksOf } from '../webhooks/source.js'
import type { RecordedCalls } from './calls.js'
import type { AdmissionFunction } from './function.js'
import { plainValue } from './plain-value.js'
import { type FunctionEnv, functionPlugin } from './plugin.js'

/** The plugins, in the order of the functions. */
export type FunctionPlugins = (env: FunctionEnv) => AdmissionPlugin[]

/**
 * `configurations`: the kind ValidatingWebhookConfiguration, whose rules functions follow. `calls` gets each call.
 * Throws a UsageError.
 */
export function compileFunctions(
  functions: readonly AdmissionFunction[],
  configurations: Kind,
  calls: Pick<RecordedCalls, 'add' | 'stored'>,
): FunctionPlugins {
  const compiled = functions.map(each => ({ function: each, webhook: compileMatching(each, configurations) }))
  return env => compiled.map(each => functionPlugin(each.function, each.webhook, env, calls))
}

/** What a webhook needs beside its matching. */
const WEBHOOK = {
  name: 'function.binnacle.example',
  clientConfig: { url: 'https://localhost' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}

function compileMatching(each: AdmissionFunction, configurations: Kind): Webhook {
  const { name, mutate: _, validate: _validate, ...matching } = each
  const { strategy } = configurations.versions[0]!
  const refuse = (why: string): never => {
    throw new UsageError(`admission: ${quote(name)}: ${why.replaceAll('webhooks[0].', '')}`)
  }
  const configuration: ValueObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: configurations.names.kind,
    metadata: { name: 'functions' },
    webhooks: [{ ...(plainValue(matching) as ValueObject), ...WEBHOOK }],
  }
  const { object, strict } = decoded(() => strategy.decode(configuration, []), refuse)
  if (strict.length > 0) refuse(strict.join(', '))
  const defaulted = strategy.applyDefaults(object)
  const [error] = strategy.validate(defaulted, [])
  if (error) refuse(printFieldError(error))
  return webhooksOf(defaulted)[0]!
}

function decoded<T>(decode: () => T, refuse: (why: string) => never): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof StatusError) return refuse(error.message)
    throw error
  }
}
