"""The engine on CatBoost."""
