// The configuration of admission plugins (--admission-control-config-file): an AdmissionConfiguration with a document for
// each plugin, in the file itself or in another one. Plugins that are off are not configured.
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { UsageError } from '../base/usage-error.js'
import { CodecError } from '../codec/codec-error.js'
import { encodeJson } from '../codec/json.js'
import { decodeYaml } from '../codec/yaml.js'
import { fieldForbidden, fieldInvalid, printFieldErrors } from '../meta/errors/field-errors.js'
import { quote } from '../meta/go/go-text.js'
import { objectsAt, stringAt } from '../meta/values/access.js'
import { isObject, type ValueObject } from '../meta/values/value.js'
import { type ConfigurationScheme, decodeConfiguration } from '../types/configuration-document.js'
import { type FindCredentials, NO_CREDENTIALS, openError, webhookUsers } from '../webhook/webhook-users.js'
import {
  ADMISSION_CONFIGURATION,
  configurationTypes,
  POD_SECURITY_CONFIGURATION,
  POLICY_CONFIGURATION,
  QUOTA_CONFIGURATION,
  WEBHOOK_CONFIGURATION,
} from './configuration/configuration-types.js'
import { NO_EXEMPTIONS, type PodSecurityConfiguration, readPodSecurity } from './plugins/pod-security/configuration.js'
import { type LimitedResource, readLimitedResources } from './plugins/resource-quota/limited-resources.js'

export interface PluginConfigurations {
  readonly podSecurity: PodSecurityConfiguration
  /** Resources of which nothing may be used without a quota. */
  readonly limitedResources: readonly LimitedResource[]
  /** How webhooks are called. */
  readonly mutatingWebhooks: FindCredentials
  readonly validatingWebhooks: FindCredentials
}

export const DEFAULT_CONFIGURATIONS: PluginConfigurations = {
  podSecurity: NO_EXEMPTIONS,
  limitedResources: [],
  mutatingWebhooks: NO_CREDENTIALS,
  validatingWebhooks: NO_CREDENTIALS,
}

/** Reads the file. `isOn`: whether a plugin runs; `enabled`: those that a flag switches on. Throws a UsageError. */
export function readPluginConfigurations(
  path: string,
  isOn: (plugin: string) => boolean,
  enabled: readonly string[],
): PluginConfigurations {
  const documents = readDocuments(path)
  for (const plugin of enabled) {
    // What such a plugin should restrict would not be restricted.
    if (documents.has(plugin) && !isOn(plugin)) {
      throw new UsageError(`couldn't init admission plugin ${quote(plugin)}: this server does not have it`)
    }
  }

  /** Reads the configuration of a plugin; undefined if it has none or is off. */
  function configure<T>(
    plugin: string,
    scheme: ConfigurationScheme,
    read: (document: ValueObject) => T,
  ): T | undefined {
    const bytes = isOn(plugin) ? documents.get(plugin)?.() : undefined
    if (bytes === undefined) return undefined
    return explained(`couldn't init admission plugin ${quote(plugin)}`, () =>
      read(decodeConfiguration(bytes, scheme, configurationTypes())),
    )
  }

  for (const plugin of ['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy']) {
    configure(plugin, POLICY_CONFIGURATION, checkNoManifests)
  }
  const mutatingWebhooks = configure('MutatingAdmissionWebhook', WEBHOOK_CONFIGURATION, readWebhookUsers)
  const validatingWebhooks = configure('ValidatingAdmissionWebhook', WEBHOOK_CONFIGURATION, readWebhookUsers)
  const limitedResources = configure('ResourceQuota', QUOTA_CONFIGURATION, readLimitedResources)
  const podSecurity = configure('PodSecurity', POD_SECURITY_CONFIGURATION, document => document)
  return {
    podSecurity: podSecurity
      ? explained('failed to initialize admission plugin "PodSecurity"', () => readPodSecurity(podSecurity))
      : NO_EXEMPTIONS,
    limitedResources: limitedResources ?? [],
    mutatingWebhooks: mutatingWebhooks ?? NO_CREDENTIALS,
    validatingWebhooks: validatingWebhooks ?? NO_CREDENTIALS,
  }
}

/** The first document of each plugin, which is read when it is needed. */
function readDocuments(path: string): ReadonlyMap<string, () => Buffer | undefined> {
  const configuration = explained('failed to read plugin config', () =>
    decodeConfiguration(readBytes(path), ADMISSION_CONFIGURATION, configurationTypes()),
  )
  const documents = new Map<string, () => Buffer | undefined>()
  for (const plugin of objectsAt(configuration, 'plugins')) {
    const name = stringAt(plugin, 'name')
    if (documents.has(name)) continue
    const { configuration: nested } = plugin
    const file = stringAt(plugin, 'path')
    documents.set(name, () => {
      if (nested !== undefined && nested !== null) return Buffer.from(encodeJson(nested))
      return file === '' ? undefined : readOther(resolve(dirname(path), file))
    })
  }
  return documents
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UsageError(
      `unable to read admission control configuration from ${quote(path)} [${openError(path, error)}]`,
    )
  }
}

function readOther(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UsageError(`couldn't open admission plugin configuration: ${openError(path, error)}`)
  }
}

/** The document of a plugin of webhooks: the kubeconfig whose users it calls webhooks as. */
function readWebhookUsers(document: ValueObject): FindCredentials {
  const path = stringAt(document, 'kubeConfigFile')
  if (path !== '' && !isAbsolute(path)) {
    throw new UsageError(printFieldErrors([fieldInvalid('kubeConfigFile', path, 'must be an absolute file path')]))
  }
  checkNoManifests(document)
  return path === '' ? NO_CREDENTIALS : webhookUsers(readKubeconfig(path), path)
}

function readKubeconfig(path: string): ValueObject {
  try {
    statSync(path)
  } catch (error) {
    throw new UsageError(openError(path, error, 'stat'))
  }
  try {
    const { value } = decodeYaml(readFileSync(path))
    if (value === null || isObject(value)) return value ?? {}
    throw new UsageError(`error loading config file ${quote(path)}: it is no kubeconfig`)
  } catch (error) {
    if (error instanceof CodecError) throw new UsageError(`error loading config file ${quote(path)}: ${error.message}`)
    throw error
  }
}

/** Configurations and policies of files need a feature gate that is off by default, and that this server does not have. */
function checkNoManifests(document: ValueObject): void {
  if (stringAt(document, 'staticManifestsDir') === '') return
  const why = 'staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled'
  throw new UsageError(printFieldErrors([fieldForbidden('staticManifestsDir', why)]))
}

/** Says where an error was found. */
function explained<T>(where: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${where}: ${error.message}`)
    throw error
  }
}
