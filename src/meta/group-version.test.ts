import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  compareVersions,
  groupVersionKind,
  isKubernetesVersion,
  parseGroupResource,
  parseGroupVersion,
  printGroupKind,
  printGroupResource,
  printGroupVersion,
  printGroupVersionKind,
  printGroupVersionResource,
} from './group-version.js'

describe('an apiVersion', () => {
  test.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['/v1', { group: '', version: 'v1' }],
    ['apps/', { group: 'apps', version: '' }],
  ])('%j is read', (text, value) => {
    expect(parseGroupVersion(text)).toEqual({ ok: true, value })
  })

  it('has at most one slash', () => {
    expect(parseGroupVersion('a/b/c')).toEqual({ ok: false, error: 'unexpected GroupVersion string: a/b/c' })
    expect(groupVersionKind('a/b/c', 'K')).toEqual({ group: '', version: '', kind: 'K' })
  })

  it('prints as it was read', () => {
    expect(['v1', 'apps/v1'].map(text => printGroupVersion(groupVersionKind(text, '')))).toEqual(['v1', 'apps/v1'])
  })
})

it('prints kinds and resources as messages do', () => {
  expect(printGroupVersionKind(groupVersionKind('v1', 'Event'))).toBe('/v1, Kind=Event')
  expect(printGroupVersionResource({ group: 'apps', version: 'v1', resource: 'deployments' })).toBe(
    'apps/v1, Resource=deployments',
  )
  expect(printGroupKind({ group: 'apps', kind: 'Deployment' })).toBe('Deployment.apps')
  expect(printGroupKind({ group: '', kind: 'Pod' })).toBe('Pod')
  expect(printGroupResource(parseGroupResource('crontabs.stable.example.com'))).toBe('crontabs.stable.example.com')
  expect(parseGroupResource('pods')).toEqual({ group: '', resource: 'pods' })
})

describe('the order of versions', () => {
  it('is the documented one', () => {
    const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
    expect(order.toReversed().toSorted(compareVersions)).toEqual(order)
  })

  it('accepts only Kubernetes versions as versions', () => {
    expect(['v1', 'v0', 'v01', 'v2beta10', 'v1alpha1'].every(isKubernetesVersion)).toBe(true)
    expect(['v', 'v1beta', 'V1', 'v1gamma1', '1', '', `v${'9'.repeat(30)}`].some(isKubernetesVersion)).toBe(false)
  })

  it('is total', () => {
    const version = fc.oneof(
      fc.tuple(fc.nat(12), fc.constantFrom('', 'alpha', 'beta'), fc.nat(12)).map(([a, s, b]) => `v${a}${s}${s && b}`),
      fc.string({ maxLength: 4 }),
    )
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0)
        expect(compareVersions(a, b) === 0).toBe(a === b)
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })
})
