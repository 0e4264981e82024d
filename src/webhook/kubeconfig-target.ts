// The target of a webhook that a kubeconfig describes: the cluster of its current context, with the user of it.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { ClientConfig } from './client-config.js'
import { openError, webhookUsers } from './webhook-users.js'

/** `path`: that of the kubeconfig; the files that it names are relative to its folder. Throws an Error that says what is wrong. */
export function kubeconfigTarget(config: ValueObject, path: string): () => Promise<ClientConfig> {
  const named = (list: string, entry: string, name: string): ValueObject | undefined => {
    const found = objectsAt(config, list).find(each => stringAt(each, 'name') === name)
    return found && objectAt(found, entry)
  }
  const context = named('contexts', 'context', stringAt(config, 'current-context'))
  if (!context) throw new Error(`context was not found for specified context: ${stringAt(config, 'current-context')}`)
  const cluster = named('clusters', 'cluster', stringAt(context, 'cluster'))
  if (!cluster) throw new Error(`cluster ${JSON.stringify(stringAt(context, 'cluster'))} does not exist`)
  const url = stringAt(cluster, 'server')
  if (!URL.canParse(url)) throw new Error(`the server of the cluster must be a URL, not ${JSON.stringify(url)}`)
  if (!['https:', 'http:'].includes(new URL(url).protocol))
    throw new Error(`${url}: webhooks are called over http or https`)
  const caBundle = authorityOf(cluster, dirname(path))
  const insecure = cluster['insecure-skip-tls-verify'] === true
  // The current user is meant, whatever the names of the others are.
  const credentials = webhookUsers({ ...config, users: [currentUser(config, context)] }, path)
  return async () => ({ url, caBundle, insecure, allowHttp: true, credentials: await credentials('') })
}

const currentUser = (config: ValueObject, context: ValueObject): ValueObject =>
  objectsAt(config, 'users').find(each => stringAt(each, 'name') === stringAt(context, 'user')) ?? {}

function authorityOf(cluster: ValueObject, folder: string): string | undefined {
  const data = stringAt(cluster, 'certificate-authority-data')
  if (data !== '') return data
  const file = stringAt(cluster, 'certificate-authority')
  if (file === '') return undefined
  const path = resolve(folder, file)
  try {
    return readFileSync(path).toString('base64')
  } catch (error) {
    throw new Error(`unable to read certificate-authority ${path}: ${openError(path, error)}`, { cause: error })
  }
}
