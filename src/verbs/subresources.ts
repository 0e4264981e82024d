// Subresources of pods.
export * from './subresources/pod-actions.js'
