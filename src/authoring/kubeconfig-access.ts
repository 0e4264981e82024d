// What the current context of a kubeconfig says: the server, by what it is verified, and the credentials of the user.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeDirectory } from '../base/files/home-directory.js'
import { UsageError } from '../base/usage-error.js'
import { decodeYaml } from '../codec/yaml.js'
import { objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'

export interface KubeconfigAccess {
  readonly url: URL
  /** PEM, in the options of Node. */
  readonly tls: {
    readonly ca: Buffer | undefined
    readonly cert: Buffer | undefined
    readonly key: Buffer | undefined
    /** The name in the certificate of the server, if it is not the host of the URL. */
    readonly servername: string | undefined
    readonly rejectUnauthorized: boolean
  }
  readonly token: string | undefined
}

/** `path` is a kubeconfig; by default that of KUBECONFIG, or ~/.kube/config. */
export function readAccess(
  path: string = process.env['KUBECONFIG'] || join(homeDirectory(), '.kube', 'config'),
): KubeconfigAccess {
  const config = readConfig(path)
  const context = named(config, 'contexts', stringAt(config, 'current-context'), 'context', path)
  const cluster = named(config, 'clusters', stringAt(context, 'cluster'), 'cluster', path)
  const user = named(config, 'users', stringAt(context, 'user'), 'user', path)
  if (isObject(user['exec']) || isObject(user['auth-provider'])) {
    throw new UsageError(
      `${path}: users by exec or auth-provider are not supported; use a token or a client certificate`,
    )
  }
  const bytesOf = (from: ValueObject, name: string): Buffer | undefined => {
    const data = stringAt(from, `${name}-data`)
    const file = stringAt(from, name)
    if (data !== '') return Buffer.from(data, 'base64')
    return file === '' ? undefined : readFileSync(resolve(dirname(path), file))
  }
  const token = stringAt(user, 'token') || bytesOf(user, 'tokenFile')?.toString().trim()
  return {
    url: new URL(stringAt(cluster, 'server')),
    tls: {
      ca: bytesOf(cluster, 'certificate-authority'),
      cert: bytesOf(user, 'client-certificate'),
      key: bytesOf(user, 'client-key'),
      servername: stringAt(cluster, 'tls-server-name') || undefined,
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    },
    token: token || undefined,
  }
}

function readConfig(path: string): ValueObject {
  let value: Value
  try {
    value = decodeYaml(readFileSync(path)).value
  } catch (error) {
    throw new UsageError(`the kubeconfig ${path} cannot be read: ${(error as Error).message}`)
  }
  if (!isObject(value)) throw new UsageError(`${path} is not a kubeconfig`)
  return value
}

function named(config: ValueObject, list: string, name: string, member: string, path: string): ValueObject {
  const entry = objectsAt(config, list).find(each => stringAt(each, 'name') === name)
  if (!entry) throw new UsageError(`the kubeconfig ${path} has no ${member} ${JSON.stringify(name)}`)
  return objectAt(entry, member)
}
