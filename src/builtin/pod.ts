// What other rooms use of pods: amounts of resources, binding and eviction.

export * from './core/pod/containers/container-resources.js'
export * from './core/pod/subresources/binding.js'
export * from './core/pod/subresources/eviction.js'
