package binnacletest_test

import (
	"context"
	"testing"
	"time"

	"binnacletest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

func configMaps(t *testing.T, server *binnacletest.Server) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
}

func create(t *testing.T, client dynamic.ResourceInterface, name string) error {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
	}}
	_, err := client.Create(context.Background(), object, metav1.CreateOptions{})
	return err
}

func TestServer(t *testing.T) {
	server := binnacletest.Start(t)
	client := configMaps(t, server)
	ctx := context.Background()

	t.Run("objects are stored, and reset takes them back", func(t *testing.T) {
		if err := create(t, client, "a"); err != nil {
			t.Fatal(err)
		}
		server.Reset("")
		if _, err := client.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("got %v, want NotFound", err)
		}
	})

	t.Run("a conflict is injected once", func(t *testing.T) {
		server.InjectFault(binnacletest.Fault{Verb: []string{"create"}, Status: 409, Times: 1})
		if err := create(t, client, "b"); !apierrors.IsConflict(err) {
			t.Fatalf("got %v, want a conflict", err)
		}
		if err := create(t, client, "b"); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("a copy changes alone", func(t *testing.T) {
		fork := server.Fork(t)
		if err := create(t, configMaps(t, fork), "only-in-copy"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(ctx, "only-in-copy", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("got %v, want NotFound", err)
		}
	})

	t.Run("the clock moves", func(t *testing.T) {
		server.AdvanceClock(2 * time.Hour)
		if err := create(t, client, "later"); err != nil {
			t.Fatal(err)
		}
		object, err := client.Get(ctx, "later", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if time.Until(object.GetCreationTimestamp().Time) < time.Hour {
			t.Fatalf("created at %s", object.GetCreationTimestamp())
		}
	})

	t.Run("requests are listed", func(t *testing.T) {
		for _, request := range server.Requests() {
			if request.Resource == "configmaps" && request.Name == "later" && request.Status == 200 {
				return
			}
		}
		t.Fatal("the get of the configmap is missing")
	})
}
