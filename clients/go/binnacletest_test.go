package binnacletest_test

import (
	"context"
	"strings"
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
		fork.InjectFault(binnacletest.Fault{Verb: []string{"get"}, Status: 503})
		if _, err := client.Get(ctx, "b", metav1.GetOptions{}); err != nil {
			t.Fatalf("a fault of the copy met the server: %v", err)
		}
		if _, err := configMaps(t, fork).Get(ctx, "b", metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
			t.Fatalf("got %v, want the fault of the copy", err)
		}
	})

	t.Run("a user has the permissions of its groups", func(t *testing.T) {
		for group, isRight := range map[string]func(error) bool{
			"devs":           apierrors.IsForbidden,
			"system:masters": func(err error) bool { return err == nil },
		} {
			client, err := dynamic.NewForConfig(server.CreateUser("jane", group).Config)
			if err != nil {
				t.Fatal(err)
			}
			resource := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
			if _, err := resource.List(ctx, metav1.ListOptions{}); !isRight(err) {
				t.Fatalf("%s: got %v", group, err)
			}
		}
	})

	t.Run("a report has the requests", func(t *testing.T) {
		if report := server.Report(); !strings.Contains(report, "POST /api/v1/namespaces/default/configmaps") {
			t.Fatal(report)
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
		server.FreezeClock()
		to := time.Now().Add(100 * 24 * time.Hour).Truncate(time.Second)
		server.MoveClockTo(to)
		if err := create(t, client, "much-later"); err != nil {
			t.Fatal(err)
		}
		object, err = client.Get(ctx, "much-later", metav1.GetOptions{})
		if err != nil || !object.GetCreationTimestamp().Time.Equal(to) {
			t.Fatalf("%v: created at %s, want %s", err, object.GetCreationTimestamp(), to)
		}
		server.RunClock(60)
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
